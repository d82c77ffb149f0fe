import Glibc

/// `askgate health`: asks a running gateway, for container health checks.
enum HealthCommand {
    static func run(_ options: inout Options) throws(UsageFailure) -> Int32 {
        let address = try options.value("--admin") ?? "127.0.0.1:9090"
        let path = options.flag("--ready") ? "/readyz" : "/livez"
        try options.finish()
        guard let colon = address.lastIndex(of: ":"), let port = UInt16(address[address.index(after: colon)...]) else {
            throw UsageFailure("--admin needs ADDRESS:PORT")
        }
        let host = address[..<colon].trimmingPrefix("[").replacing("]", with: "")
        guard let status = self.status(host: String(host), port: port, path: path) else {
            Terminal.complain("askgate: nobody answers at \(address)")
            return 1
        }
        Terminal.show("\(path) \(status)")
        return status == 200 ? 0 : 1
    }

    /// The status of one GET; nil without an answer within two seconds.
    private static func status(host: String, port: UInt16, path: String) -> Int? {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let info = found else { return nil }
        defer { freeaddrinfo(found) }
        let descriptor = socket(info.pointee.ai_family, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var wait = timeval(tv_sec: 2, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        guard connect(descriptor, info.pointee.ai_addr, info.pointee.ai_addrlen) == 0 else { return nil }
        let request = Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return nil }
        var answer = [UInt8](repeating: 0, count: 64)
        let count = recv(descriptor, &answer, answer.count, 0)
        guard count > 12 else { return nil }
        return Int(String(decoding: answer[9..<12], as: UTF8.self))
    }
}
