import JOSE
import Testing

@Suite("Base64url")
struct Base64URLTests {
    @Test("Every length and byte comes back")
    func roundTrip() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
            let text = Base64URL.encode(bytes.span)
            #expect(Base64URL.decode(text.span) == bytes)
        }
        let all = (0...255).map { UInt8($0) }
        #expect(Base64URL.decode(Base64URL.encode(all.span).span) == all)
    }

    @Test("Known answers", arguments: [("", ""), ("Zg", "f"), ("Zm8", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")])
    func known(text: String, bytes: String) {
        #expect(Base64URL.decode(Array(text.utf8).span) == Array(bytes.utf8))
        #expect(Base64URL.encode(Array(bytes.utf8).span) == Array(text.utf8))
    }

    @Test(
        "Anything but the one right spelling is refused",
        arguments: [
            "Zg==", "Zm8=", "Z", "Zm9vY", "Zm9v\n", " Zm9v", "Zm 9v", "Zm+v", "Zm/v", "Zm9v=", "Zm?v", "Zm9v.", "Zh",
            "Zm9",
            "é", "Zm9v\0", "=", "Z===", "Zm\u{7F}v",
        ])
    func refused(text: String) { #expect(Base64URL.decode(Array(text.utf8).span) == nil) }

    @Test("Every byte outside the alphabet is refused at every place")
    func everyPlace() {
        let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        for byte in UInt8.min...UInt8.max where !alphabet.contains(byte) {
            for place in 0..<7 {
                var text = Array("AAAAAAA".utf8)
                text[place] = byte
                #expect(Base64URL.decode(text.span) == nil)
            }
        }
    }
}
