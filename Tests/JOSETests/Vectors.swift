import Foundation

/// Vectors of others, read where they lie and never copied.
enum Vectors {
    /// Nil when they are absent, which only CI takes for a failure.
    static let folder: URL? = {
        let package = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let named = ProcessInfo.processInfo.environment["ASKGATE_VECTORS"].map { URL(fileURLWithPath: $0) }
        let folder = named ?? package.deletingLastPathComponent().appendingPathComponent("shared/vectors")
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }()

    static let areExpected = folder != nil || ProcessInfo.processInfo.environment["CI"] == "true"

    static func read(_ path: String) throws -> [UInt8] {
        guard let folder else { throw CocoaError(.fileNoSuchFile) }
        return Array(try Data(contentsOf: folder.appendingPathComponent(path)))
    }
}

/// Bytes of a hexadecimal text.
func hex(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Substring(text)
    while let byte = UInt8(rest.prefix(2), radix: 16) {
        bytes.append(byte)
        rest = rest.dropFirst(2)
    }
    return bytes
}
