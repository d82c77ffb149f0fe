import GatewayTypes

/// What is wrong with an HTTP/1.1 message that a test received.
package enum MessageFault: Error, Equatable {
    case socket(SocketFailure)
    /// The peer closed before the message was whole.
    case truncated
    case malformed(String)
}

/// One HTTP/1.1 message, read strictly: any sloppiness of its sender is a fault.
package struct HTTPMessage: Sendable {
    package var startLine: String
    package var headers: [(name: String, value: String)]
    package var body: [UInt8] = []

    package func values(_ name: String) -> [String] {
        self.headers.filter { $0.name.lowercased() == name }.map(\.value)
    }

    package func value(_ name: String) -> String? { self.values(name).first }

    /// Reads a head whose lines end in CRLF.
    init(head: [UInt8]) throws(MessageFault) {
        guard let text = String(validating: head, as: UTF8.self) else { throw .malformed("head is not UTF-8") }
        var lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for index in lines.indices.dropLast() {
            guard lines[index].unicodeScalars.last == "\r" else { throw .malformed("line without CR") }
            lines[index] = String(String.UnicodeScalarView(lines[index].unicodeScalars.dropLast()))
            guard !lines[index].unicodeScalars.contains("\r") else { throw .malformed("bare CR") }
        }
        self.startLine = lines.first ?? ""
        self.headers = []
        for line in lines.dropFirst() where !line.isEmpty {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
                throw .malformed("header line without a name: \(line)")
            }
            let name = String(line[..<colon])
            guard name.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { throw .malformed("header name: \(name)") }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            self.headers.append((name, String(value)))
        }
    }

    /// How the body of a message with this head is framed.
    enum BodyFraming: Equatable {
        case none
        case length(Int)
        case chunked
        case untilClose
    }

    func framing(isResponse: Bool) throws(MessageFault) -> BodyFraming {
        let codings = self.values("transfer-encoding")
        let lengths = self.values("content-length")
        guard codings.count + lengths.count <= 1 else { throw .malformed("more than one framing") }
        if let coding = codings.first {
            guard coding == "chunked" else { throw .malformed("transfer coding \(coding)") }
            return .chunked
        }
        if let length = lengths.first {
            guard let count = Int(length), count >= 0 else { throw .malformed("content length \(length)") }
            return .length(count)
        }
        return isResponse ? .untilClose : .none
    }
}
