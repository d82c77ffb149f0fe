import GatewayTypes
import Testing

@Suite struct DecimalTests {
    @Test(arguments: [0, 1, 9, 10, 99, 100, 1234567890, -1, -10, Int.max, Int.min])
    func numbersAreDecimal(_ value: Int) {
        var bytes = Array("x".utf8)
        Decimal.append(value, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "x\(value)")
    }
}
