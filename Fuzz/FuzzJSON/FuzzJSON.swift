import CJansson
import FuzzDriver
import JSON

/// Reads the input with our reader and with jansson, which have to agree, and writes what was read, which has to read
/// back as the same.
@_cdecl("LLVMFuzzerTestOneInput")
package func fuzzJSON(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    checkNarrowLimits(bytes)
    let ours: JSONDocument?
    do throws(JSONFailure) {
        ours = try JSONDocument(parsing: bytes, limits: JSONLimits(bytes: count, depth: 1024))
    } catch {
        checkFailure(error, of: bytes)
        // jansson has a depth of its own.
        if error.reason == .tooDeep { return 0 }
        ours = nil
    }
    var integersAreReals = false
    let theirs = bytes.contains(0) ? nil : secondOpinion(bytes, &integersAreReals)
    defer { json_decref(theirs) }
    precondition((ours == nil) == (theirs == nil), ours == nil ? "only we refuse it" : "only we accept it")
    guard let ours, let theirs else { return 0 }
    expectSame(ours.root, theirs, integersAreReals)
    expectReadsBack(ours.root)
    return 0
}

/// A failure points into the document and counts the lines up to there.
private func checkFailure(_ failure: JSONFailure, of bytes: [UInt8]) {
    precondition((0...bytes.count).contains(failure.position))
    precondition(failure.line == 1 + bytes[..<failure.position].count { $0 == 0x0A })
    precondition((failure.reason == .unexpectedEnd) == (failure.position == bytes.count), "\(failure)")
}

/// Under narrow limits a document is the same or refused for them.
private func checkNarrowLimits(_ bytes: [UInt8]) {
    do throws(JSONFailure) {
        let narrow = try JSONDocument(parsing: bytes, limits: JSONLimits(bytes: 200, depth: 3))
        precondition(bytes.count <= 200 && depth(of: narrow.root) <= 3)
    } catch {
        precondition((error.reason == .tooLarge) == (bytes.count > 200))
    }
}

private func depth(of value: JSONValue) -> Int {
    var deepest = -1
    value.forEachMember { deepest = max(deepest, depth(of: $1)) }
    for element in value.elements { deepest = max(deepest, depth(of: element)) }
    return value.kind == .object || value.kind == .array ? max(deepest, 0) + 1 : 0
}

private func secondOpinion(_ bytes: [UInt8], _ integersAreReals: inout Bool) -> UnsafeMutablePointer<json_t>? {
    bytes.withUnsafeBytes { raw in
        let text = raw.assumingMemoryBound(to: CChar.self).baseAddress
        let flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL
        var error = json_error_t()
        if let tree = json_loadb(text, raw.count, Int(flags), &error) { return tree }
        guard json_error_code(&error) == json_error_numeric_overflow else { return nil }
        integersAreReals = true
        return json_loadb(text, raw.count, Int(flags | JSON_DECODE_INT_AS_REAL), &error)
    }
}

private func expectSame(_ ours: JSONValue, _ theirs: UnsafeMutablePointer<json_t>, _ integersAreReals: Bool) {
    switch theirs.pointee.type {
    case JSON_OBJECT: expectSameMembers(ours, theirs, integersAreReals)
    case JSON_ARRAY:
        precondition(ours.kind == .array && ours.count == json_array_size(theirs))
        for (index, element) in ours.elements.enumerated() {
            guard let other = json_array_get(theirs, index) else { preconditionFailure("too many elements") }
            expectSame(element, other, integersAreReals)
        }
    case JSON_STRING:
        var count = 0
        let start = askgate_json_string(theirs, &count)
        let text = UnsafeRawBufferPointer(start: start, count: count)
        precondition(ours.withString { $0.elementsEqual(text) } == true)
    case JSON_INTEGER:
        let value = Int(json_integer_value(theirs))
        precondition(ours.int == value && ours.number == Double(value))
    case JSON_REAL: precondition(ours.kind == .number && ours.number == json_real_value(theirs))
    case JSON_TRUE, JSON_FALSE: precondition(ours.bool == (theirs.pointee.type == JSON_TRUE))
    default: precondition(ours.isNull)
    }
}

private func expectSameMembers(_ ours: JSONValue, _ theirs: UnsafeMutablePointer<json_t>, _ integersAreReals: Bool) {
    precondition(ours.kind == .object && ours.count == json_object_size(theirs))
    var iterator = json_object_iter(theirs)
    ours.forEachMember { name, value in
        let key = UnsafeRawBufferPointer(
            start: json_object_iter_key(iterator), count: json_object_iter_key_len(iterator))
        guard name.elementsEqual(key), let other = json_object_iter_value(iterator) else {
            preconditionFailure("names differ")
        }
        let found = ours[String(decoding: name, as: UTF8.self)]
        precondition(found?.kind == value.kind && found?.count == value.count, "a member is not found by its name")
        expectSame(value, other, integersAreReals)
        iterator = json_object_iter_next(theirs, iterator)
    }
}

private func expectReadsBack(_ root: JSONValue) {
    var writer = JSONWriter()
    write(root, to: &writer)
    guard let again = try? JSONDocument(parsing: writer.bytes, limits: JSONLimits(bytes: .max, depth: 1024)) else {
        preconditionFailure("what was written cannot be read")
    }
    var twice = JSONWriter()
    write(again.root, to: &twice)
    precondition(twice.bytes == writer.bytes, "what was written reads back as something else")
}

private func write(_ value: JSONValue, to writer: inout JSONWriter) {
    switch value.kind {
    case .object:
        writer.beginObject()
        value.forEachMember { name, member in
            writer.name(utf8: name)
            write(member, to: &writer)
        }
        writer.endObject()
    case .array:
        writer.beginArray()
        for element in value.elements { write(element, to: &writer) }
        writer.endArray()
    case .string: _ = value.withString { writer.string(utf8: $0) }
    case .number: if let int = value.int { writer.integer(int) } else { writer.number(value.number ?? .nan) }
    case .bool: writer.bool(value.bool == true)
    case .null: writer.null()
    }
}

/// The entry of the program: the package manager points `main` at a function of this name.
@_cdecl("FuzzJSON_main")
package func main(_ count: CInt, _ arguments: OpaquePointer?) -> CInt {
    runFuzzer(count, arguments, fuzzJSON)
}
