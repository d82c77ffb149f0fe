import CJansson
import JSON

/// What jansson says about a document, compared with what our reader says.
///
/// Its flags are those with which it would be as strict as we are; two differences remain and are made up for here: it
/// lets a NUL stand behind a number, and refuses a whole document for one integer beyond 64 bits unless all integers
/// become doubles.
enum SecondOpinion {
    /// Where the two readers differ; nil when verdict and every value are the same.
    static func difference(about bytes: [UInt8]) -> String? {
        let ours = try? JSONDocument(parsing: bytes, limits: JSONLimits(depth: 1024))
        var integersAreReals = false
        let theirs = bytes.contains(0) ? nil : self.read(bytes, integersAreReals: &integersAreReals)
        defer { json_decref(theirs) }
        switch (ours, theirs) {
        case (nil, nil): return nil
        case (let ours?, let theirs?):
            return self.difference(ours.root, theirs, integersAreReals: integersAreReals)
        case (nil, _): return "only we refuse it"
        case (_, nil): return "only we accept it"
        }
    }

    private static func read(_ bytes: [UInt8], integersAreReals: inout Bool) -> UnsafeMutablePointer<json_t>? {
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

    private static func difference(
        _ ours: JSONValue, _ theirs: UnsafeMutablePointer<json_t>, integersAreReals: Bool
    ) -> String? {
        switch theirs.pointee.type {
        case JSON_OBJECT: return self.differenceOfMembers(ours, theirs, integersAreReals: integersAreReals)
        case JSON_ARRAY:
            let elements = Array(ours.elements)
            guard ours.kind == .array, elements.count == json_array_size(theirs) else { return "arrays differ" }
            for (index, element) in elements.enumerated() {
                guard let other = json_array_get(theirs, index) else { return "an element is missing" }
                if let found = self.difference(element, other, integersAreReals: integersAreReals) { return found }
            }
            return nil
        case JSON_STRING:
            var count = 0
            let start = askgate_json_string(theirs, &count)
            let text = UnsafeRawBufferPointer(start: start, count: count)
            return ours.withString { $0.elementsEqual(text) } == true ? nil : "strings differ"
        case JSON_INTEGER:
            let value = Int(json_integer_value(theirs))
            return ours.int == value && ours.number == Double(value) ? nil : "integers differ"
        case JSON_REAL:
            let value = json_real_value(theirs)
            let isSame = integersAreReals ? ours.number == value : ours.number?.bitPattern == value.bitPattern
            return isSame ? nil : "reals differ"
        case JSON_TRUE, JSON_FALSE: return ours.bool == (theirs.pointee.type == JSON_TRUE) ? nil : "truths differ"
        default: return ours.isNull ? nil : "only they have null"
        }
    }

    private static func differenceOfMembers(
        _ ours: JSONValue, _ theirs: UnsafeMutablePointer<json_t>, integersAreReals: Bool
    ) -> String? {
        guard ours.kind == .object, ours.count == json_object_size(theirs) else { return "objects differ" }
        var iterator = json_object_iter(theirs)
        var found: String?
        ours.forEachMember { name, value in
            let key = UnsafeRawBufferPointer(
                start: json_object_iter_key(iterator), count: json_object_iter_key_len(iterator))
            let other = json_object_iter_value(iterator)
            iterator = json_object_iter_next(theirs, iterator)
            guard let other, name.elementsEqual(key) else { return found = found ?? "names differ" }
            found = found ?? self.difference(value, other, integersAreReals: integersAreReals)
        }
        return found
    }
}
