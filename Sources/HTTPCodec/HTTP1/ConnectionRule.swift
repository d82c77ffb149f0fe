/// What the client says about the connection and about waiting.
enum ConnectionRule {
    /// Whether any `Connection` line holds the option `close` (RFC 9112 §9.6).
    static func asksToClose(_ head: Span<UInt8>, _ table: FieldTable) -> Bool {
        guard table.first(.connection) != nil else { return false }
        var closes = false
        for field in table.fields where field.known == .connection {
            FieldList.forEach(head.extracting(field.value)) { option in
                if ByteComparison.equalsFolded(option, "close") { closes = true }
            }
        }
        return closes
    }

    /// Whether the client waits for `100 Continue`; HTTP/1.0 clients never do (RFC 9110 §10.1.1).
    static func expectsContinue(
        _ head: Span<UInt8>, _ table: FieldTable, minorVersion: Int
    ) throws(HTTPFailure) -> Bool {
        guard table.first(.expect) != nil else { return false }
        for field in table.fields where field.known == .expect {
            guard ByteComparison.equalsFolded(head.extracting(field.value), "100-continue") else {
                throw .expectationFailed
            }
        }
        return minorVersion > 0
    }
}
