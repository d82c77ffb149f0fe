import Testing

@testable import HTTPCodec

@Suite struct ByteSearchTests {
    @Test func classesHoldWhatTheirGrammarSays() {
        let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        let token = Set((letters + "!#$%&'*+-.^_`|~").utf8)
        let name = Set((letters + "-._~%!$&'()*+;=").utf8)
        let target = Set(UInt8(0x21)...0x7E).subtracting("#\\".utf8)
        let literal = Set("0123456789abcdefABCDEF:.".utf8)
        for byte in UInt8.min...UInt8.max {
            #expect(ByteClass.token.contains(byte) == token.contains(byte))
            #expect(ByteClass.registeredName.contains(byte) == name.contains(byte))
            #expect(ByteClass.target.contains(byte) == target.contains(byte))
            #expect(ByteClass.addressLiteral.contains(byte) == literal.contains(byte))
        }
    }

    /// Every byte value at every place of a stretch longer than two words, between bytes that could borrow.
    @Test(arguments: [UInt8(0x20), 0x21, 0x7E, 0x80, 0xFF, 0x8A, 0x8D])
    func everyByteIsFoundAtEveryPlace(_ filler: UInt8) {
        for byte in UInt8.min...UInt8.max {
            for place in 0..<19 {
                var bytes = [UInt8](repeating: filler, count: 19)
                bytes[place] = byte
                let isControl = byte < 0x20 || byte == 0x7F
                #expect(ByteSearch.firstControl(bytes.span, from: 0) == (isControl ? place : 19))
                #expect(ByteSearch.firstControl(bytes.span, from: place + 1) == 19)
                let isLineEnd = byte == 0x0A || byte == 0x0D
                #expect(ByteSearch.firstLineEnd(bytes.span, from: 0) == (isLineEnd ? place : 19))
            }
        }
    }

    @Test func firstOfSeveralIsFound() {
        let bytes: [UInt8] = Array("0123456".utf8) + [0x7F, 0x0B, 0x0A, 0x00, 0x0D, 0x7F, 0x0A, 0x0A, 0x0A]
        #expect(ByteSearch.firstControl(bytes.span, from: 0) == 7)
        #expect(ByteSearch.firstControl(bytes.span, from: 8) == 8)
        #expect(ByteSearch.firstLineEnd(bytes.span, from: 0) == 9)
        #expect(ByteSearch.firstLineEnd(bytes.span, from: 10) == 11)
        #expect(ByteSearch.firstControl([UInt8]().span, from: 0) == 0)
    }

    @Test func digitsHaveValues() {
        for byte in UInt8.min...UInt8.max {
            let text = String(UnicodeScalar(byte))
            let isASCII = byte < 128
            #expect(Byte.digit(byte) == (isASCII ? Int(text, radix: 10) : nil))
            #expect(Byte.hexadecimal(byte) == (isASCII ? Int(text, radix: 16) : nil))
        }
    }
}
