import GatewayTypes
package import HTTPClient
import Synchronization

/// Where the calls of one provider go: one address, or one for each model and form of answer where the address names
/// them. Fixed when the configuration is loaded, shared by all loops.
package final class Endpoints: Sendable {
    /// The address of a call, and of one whose answer comes piece by piece.
    package struct Addresses: Sendable {
        /// Stands for the model, as one segment.
        package static let model = "{model}"

        package var whole: String
        package var stream: String

        /// - Parameter stream: the same as `whole` by default.
        package init(_ whole: String, stream: String? = nil) {
            self.whole = whole
            self.stream = stream ?? whole
        }
    }

    private struct Place: Hashable {
        var model: ModelName
        var streams: Bool
    }

    /// The only address; nil where models have their own.
    private let only: UpstreamEndpoint?
    private let addresses: Addresses
    private let make: @Sendable (String) -> UpstreamEndpoint
    /// As many as the configuration has models, twice.
    private let places = Mutex<[Place: UpstreamEndpoint]>([:])

    /// - Parameter make: makes the endpoint of an address.
    package init(_ addresses: Addresses, make: @escaping @Sendable (_ url: String) -> UpstreamEndpoint) {
        let isFixed = addresses.whole == addresses.stream && !addresses.whole.contains(Addresses.model)
        self.only = isFixed ? make(addresses.whole) : nil
        self.addresses = addresses
        self.make = make
    }

    /// One address for all calls.
    package convenience init(_ endpoint: UpstreamEndpoint) {
        self.init(Addresses(endpoint.url)) { _ in endpoint }
    }

    /// Where a call goes: always the same object for the same model and form.
    func endpoint(for model: ModelName, streams: Bool) -> UpstreamEndpoint {
        if let only = self.only { return only }
        return self.places.withLock { places in
            let place = Place(model: model, streams: streams)
            if let known = places[place] { return known }
            let template = streams ? self.addresses.stream : self.addresses.whole
            let made = self.make(template.replacing(Addresses.model, with: Self.segment(model.string)))
            places[place] = made
            return made
        }
    }

    /// A text as one segment of a path or one value of a query (RFC 3986 §2.3).
    package static func segment(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                result += byte < 16 ? "%0" : "%"
                result += String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }
}
