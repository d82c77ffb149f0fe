import CYAML

/// Something that keeps a file from being read as YAML.
struct YAMLFailure: Error {
    var position: SourcePosition?
    var message: String
    var advice: String
}

/// One event of the YAML parser.
struct YAMLEvent {
    enum Kind {
        case streamStart, streamEnd
        case documentStart(hasDirectives: Bool)
        case documentEnd
        case alias
        case scalar(String, isPlain: Bool)
        case sequenceStart, sequenceEnd
        case mappingStart, mappingEnd
    }

    var kind: Kind
    var position: SourcePosition
    /// The anchor of a node, or the name an alias uses.
    var anchor: String?
    var hasTag: Bool
}

/// The events of a YAML text; owns libyaml's parser and a copy of the text. UTF-8 only.
struct YAMLEvents: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let input: UnsafeMutableBufferPointer<UInt8>
    private var isOver = false

    /// - Parameter text: the file without a byte order mark.
    init(_ text: ArraySlice<UInt8>) throws(YAMLFailure) {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            throw YAMLFailure(message: "there is not enough memory to read the file", advice: "write a smaller file")
        }
        self.parser = parser
        self.input = .allocate(capacity: max(1, text.count))
        _ = self.input.initialize(from: text)
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, self.input.baseAddress, text.count)
    }

    deinit {
        yaml_parser_delete(self.parser)
        self.parser.deallocate()
        self.input.deallocate()
    }

    mutating func next() throws(YAMLFailure) -> YAMLEvent {
        let end = SourcePosition(line: 1, column: 1)
        guard !self.isOver else { return YAMLEvent(kind: .streamEnd, position: end, anchor: nil, hasTag: false) }
        var raw = yaml_event_t()
        guard yaml_parser_parse(self.parser, &raw) == 1 else {
            self.isOver = true
            throw self.failure()
        }
        defer { yaml_event_delete(&raw) }
        let event = YAMLEvent(
            kind: YAMLEvents.kind(of: &raw), position: YAMLEvents.position(raw.start_mark),
            anchor: askgate_yaml_anchor(&raw).map { String(cString: $0) }, hasTag: askgate_yaml_has_tag(&raw) != 0)
        if case .streamEnd = event.kind { self.isOver = true }
        return event
    }

    private static func kind(of event: inout yaml_event_t) -> YAMLEvent.Kind {
        switch event.type {
        case YAML_STREAM_START_EVENT: .streamStart
        case YAML_DOCUMENT_START_EVENT: .documentStart(hasDirectives: askgate_yaml_has_directives(&event) != 0)
        case YAML_DOCUMENT_END_EVENT: .documentEnd
        case YAML_ALIAS_EVENT: .alias
        case YAML_SCALAR_EVENT: self.scalar(&event)
        case YAML_SEQUENCE_START_EVENT: .sequenceStart
        case YAML_SEQUENCE_END_EVENT: .sequenceEnd
        case YAML_MAPPING_START_EVENT: .mappingStart
        case YAML_MAPPING_END_EVENT: .mappingEnd
        default: .streamEnd
        }
    }

    private static func scalar(_ event: inout yaml_event_t) -> YAMLEvent.Kind {
        let bytes = UnsafeBufferPointer(
            start: askgate_yaml_scalar_value(&event), count: askgate_yaml_scalar_length(&event))
        return .scalar(String(decoding: bytes, as: UTF8.self), isPlain: askgate_yaml_scalar_is_plain(&event) != 0)
    }

    private static func position(_ mark: yaml_mark_t) -> SourcePosition {
        SourcePosition(line: Int(clamping: mark.line) &+ 1, column: Int(clamping: mark.column) &+ 1)
    }

    /// What the parser stumbled over, in its own words, which never quote the file.
    private func failure() -> YAMLFailure {
        let state = self.parser.pointee
        let problem = state.problem.map { String(cString: $0) } ?? "the text cannot be read"
        guard state.error != YAML_READER_ERROR else {
            return YAMLFailure(
                position: self.position(ofByte: state.problem_offset), message: "this is not YAML text: \(problem)",
                advice: "save the file as UTF-8 without control characters")
        }
        return YAMLFailure(
            position: YAMLEvents.position(state.problem_mark), message: "this is not YAML: \(problem)",
            advice: YAMLEvents.advice(for: problem))
    }

    /// The reader counts bytes only; lines end as YAML says: LF, CR or CRLF.
    private func position(ofByte offset: Int) -> SourcePosition {
        var line = 1
        var column = 1
        for index in 0..<min(offset, self.input.count) {
            let byte = self.input[index]
            let isFirstOfPair = byte == 0x0D && index + 1 < self.input.count && self.input[index + 1] == 0x0A
            if byte == 0x0A || (byte == 0x0D && !isFirstOfPair) {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        return SourcePosition(line: line, column: column)
    }

    private static func advice(for problem: String) -> String {
        if problem.contains("cannot start any token") {
            return "write spaces instead of tabs to indent, and put quotes round values that begin with @, ` or %"
        }
        if problem.contains("mapping values are not allowed") {
            return "write `key: value` on a line of its own, and put quotes round values that hold `: `"
        }
        if problem.contains("could not find expected ':'") || problem.contains("expected key") {
            return "write `key: value`, and give all keys of one mapping the same indent"
        }
        return "check the indent, quotes and brackets here and on the line above"
    }
}
