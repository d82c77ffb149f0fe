/// A value of the printed configuration; objects keep the order of their members.
indirect enum EffectiveValue {
    case object([(String, EffectiveValue)])
    case array([EffectiveValue])
    case string(String)
    case integer(Int)
    case decimal(Double)
    case boolean(Bool)
    case null

    static func optional(_ text: String?) -> EffectiveValue { text.map { .string($0) } ?? .null }

    static func strings(_ values: some Sequence<String>) -> EffectiveValue { .array(values.map { .string($0) }) }

    /// Appends JSON with two spaces of indent for each level; a list of plain values stays on one line.
    func write(to output: inout String, indent: Int = 0) {
        switch self {
        case .object(let members):
            self.write(members, "{", "}", to: &output, indent) { member, output in
                output += EffectiveValue.quote(member.0) + ": "
                member.1.write(to: &output, indent: indent + 1)
            }
        case .array(let items) where items.allSatisfy(\.isScalar):
            output += "["
            for (index, item) in items.enumerated() {
                output += index == 0 ? "" : ", "
                item.write(to: &output)
            }
            output += "]"
        case .array(let items):
            self.write(items, "[", "]", to: &output, indent) { $0.write(to: &$1, indent: indent + 1) }
        case .string(let text): output += EffectiveValue.quote(text)
        case .integer(let number): output += String(number)
        case .decimal(let number): output += String(number)
        case .boolean(let value): output += value ? "true" : "false"
        case .null: output += "null"
        }
    }

    private var isScalar: Bool {
        switch self {
        case .object, .array: false
        default: true
        }
    }

    private func write<Item>(
        _ items: [Item], _ open: String, _ close: String, to output: inout String, _ indent: Int,
        _ body: (Item, inout String) -> Void
    ) {
        guard !items.isEmpty else { return output += open + close }
        output += open
        for (index, item) in items.enumerated() {
            output += index == 0 ? "\n" : ",\n"
            output += String(repeating: "  ", count: indent + 1)
            body(item, &output)
        }
        output += "\n" + String(repeating: "  ", count: indent) + close
    }

    private static func quote(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            default:
                if scalar.value >= 0x20 {
                    result.unicodeScalars.append(scalar)
                } else {
                    let digits = String(scalar.value, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
        return result + "\""
    }
}
