package import GatewayTypes

/// Where calls go and how: fixed when the configuration is loaded, shared by all loops.
package final class UpstreamEndpoint: Sendable {
    /// Absolute `http` or `https` address of the call; never with user information.
    package let url: String
    /// Header lines without line ends, `Authorization` among them; sent as they are.
    private let headers: Secret
    /// Nil for what libcurl has to see to.
    let plain: PlainTarget?
    package let connectTimeout: TimeSpan
    /// Further calls are refused at once.
    let cap: CallCap
    /// A PEM file of trusted roots in place of the system's.
    package let certificateFile: String?
    /// Of every call to it.
    let method: String
    /// Whether calls are GETs without a body instead of POSTs.
    let isGet: Bool
    /// Further fields of the answer that its head is to bring, in lower case.
    let wantedFields: [String]

    /// - Parameters:
    ///   - headers: name and value pairs; a pair with a control character is left out, since it could forge further
    ///     lines.
    ///   - cap: shared with the upstream's other endpoints.
    ///   - usesLibcurl: also where plain HTTP/1.1 is spoken.
    package init(
        url: String, headers: [(name: String, value: Secret)], connectTimeout: TimeSpan = .seconds(2),
        cap: CallCap = CallCap(1024), certificateFile: String? = nil, isGet: Bool = false,
        wantedFields: [String] = [], method: String = "POST",
        usesLibcurl: Bool = false
    ) {
        self.url = url
        var lines: [UInt8] = []
        for header in headers {
            header.value.reveal { value in
                let line = Array(header.name.utf8) + Array(": ".utf8) + value
                guard line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return }
                lines.append(contentsOf: line)
                lines.append(0)
            }
        }
        self.headers = Secret(lines)
        self.connectTimeout = connectTimeout
        self.cap = cap
        self.certificateFile = certificateFile
        self.method = method
        self.isGet = isGet
        self.wantedFields = wantedFields
        let verb = isGet && method == "POST" ? "GET" : method
        self.plain = usesLibcurl ? nil : PlainTarget(url, method: verb, hasBody: !isGet, lines)
    }

    /// Lends each header line as a NUL-terminated string.
    func withHeaderLines(_ body: (UnsafePointer<CChar>) -> Void) {
        self.headers.reveal { bytes in
            bytes.withUnsafeBytes { raw in
                let text = raw.assumingMemoryBound(to: CChar.self)
                var start = 0
                for index in text.indices where text[index] == 0 {
                    if let base = text.baseAddress { body(base + start) }
                    start = index + 1
                }
            }
        }
    }
}
