package import JSON

/// An access record read back.
package struct RecordLine: Sendable {
    package let json: JSONValue

    package subscript(_ name: String) -> JSONValue? { self.json[name] }
    package var requestID: String? { self.json["request_id"]?.string }

    /// The records among lines of output; other lines are passed over.
    package static func lines(of output: String) -> [RecordLine] {
        output.utf8.split(separator: 10).compactMap { line in
            guard let root = (try? JSONDocument(parsing: Array(line)))?.root else { return nil }
            let record = RecordLine(json: root)
            return record.requestID == nil ? nil : record
        }
    }
}
