import Configuration
import Testing

/// The bounds of the reader, and what of YAML it refuses.
@Suite struct YAMLTests {
    private func failure(_ bytes: [UInt8], _ limits: YAMLLimits = YAMLLimits()) -> ConfigurationFailure? {
        do throws(ConfigurationFailure) {
            _ = try load(bytes, limits: limits)
            return nil
        } catch { return error }
    }

    private func message(_ text: String, _ change: (inout YAMLLimits) -> Void = { _ in }) -> String? {
        var limits = YAMLLimits()
        change(&limits)
        return self.failure(Array(text.utf8), limits)?.problems.first?.description
    }

    @Test func anAliasStandsForItsAnchor() throws {
        let text =
            goodConfiguration
            .replacing(only: "limits:\n", by: "limits: &basic\n")
            .replacing(only: "    tasks:\n", by: "      pro: {limits: *basic}\n    tasks:\n")
        let plans = try load(text).document.tenants[0].plans
        #expect(plans.count == 2)
        #expect(plans[0].limits == plans[1].limits)
    }

    @Test func aliasesThatMultiplyAreStopped() {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...9 {
            let items = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "a\(level): &a\(level) [\(items)]\n"
        }
        #expect(self.message(text)?.contains("the file holds more than 200000 values") == true)
        #expect(
            self.message("a: &a 1\n" + "b: [*a, *a, *a]") { $0.aliases = 2 }
                == "c.yaml:2:13: there are more than 2 aliases; write the values out")
    }

    @Test func anAnchorThatHoldsItselfIsRefused() {
        #expect(self.message("a: &a [*a]")?.contains("this alias has no anchor above it") == true)
    }

    @Test func depthSizeAndCountAreBounded() {
        #expect(self.message(String(repeating: "[", count: 100_000))?.contains("nested deeper than 24 levels") == true)
        #expect(self.message(String(repeating: "- ", count: 100_000))?.contains("nested deeper") == true)
        #expect(self.message("[a, b, c]") { $0.nodes = 3 }?.contains("more than 3 values") == true)
        #expect(self.message("[a, b, c]") { $0.nodes = 4 }?.contains("more than") == false)
        #expect(
            self.message("listeners: {}") { $0.size = 12 }
                == "c.yaml: the file is larger than 12 bytes; write a smaller configuration")
    }

    @Test(arguments: ["", "\n\n", "# only words\n", "---\n...\n# nothing\n", "\u{FEFF}"])
    func anEmptyFileSaysWhatBelongsInIt(_ text: String) {
        let problem = self.failure(Array(text.utf8))?.problems.first?.description
        #expect(
            problem
                == "c.yaml:1:1: the file is empty; write at least `listeners:`, `providers:` and `tenants:`")
    }

    @Test func otherEncodingsAreNamed() {
        let wide = "listeners: {}".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        #expect(
            self.failure([0xFF, 0xFE] + wide)?.description.contains("the file is UTF-16; save the file as UTF-8")
                == true)
        let latin = Array("a: b\r\nc: caf".utf8) + [0xE9, 0x0A]
        #expect(self.failure(latin)?.description.hasPrefix("c.yaml:2:7: this is not YAML text: ") == true)
        #expect(self.failure(Array("a: \u{1}".utf8))?.description.hasPrefix("c.yaml:1:4: ") == true)
    }

    @Test func directivesAndListsAsKeysAreRefused() {
        #expect(self.message("%YAML 1.1\n---\na: b\n")?.contains("directives (lines that begin with %)") == true)
        #expect(self.message("? [a, b]\n: c\n")?.contains("a key is a list, a mapping or an alias") == true)
    }

    @Test func aColumnCountsSignsAndNotBytes() {
        let found = problems("کلید: [\u{1F600}, !x y]")
        #expect(found.contains { $0.hasPrefix("c.yaml:1:11: tags") })
        #expect(self.message("\u{FEFF}? [a]\n: b")?.hasPrefix("c.yaml:1:3: a key is a list") == true)
    }

    @Test func anUnreadableFileAndAMalformedOneAreToldApart() {
        #expect(self.failure(Array("a: [".utf8))?.metricLabel == "malformed")
        #expect(self.failure(Array("a: b".utf8))?.metricLabel == "invalid")
        let missing = #expect(throws: ConfigurationFailure.self) {
            try ConfigurationLoader.load(path: "/nonexistent/askgate.yaml", environment: [:])
        }
        #expect(missing?.metricLabel == "unreadable")
        #expect(missing?.description == "/nonexistent/askgate.yaml: the file does not exist; name a configuration file")
    }
}
