import RelayCore
import TestSupport
import Testing

struct ValidationIDTests {
    private static let text = "0751290123456789abcdeffedcba9876543210"
    private static let id = ValidationID(
        bucket: Bucket(number: 7), day: 0x5129, high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210)

    @Test func itIsWrittenAs38LowerCaseDigits() {
        #expect(Self.id.description == Self.text)
        #expect(
            ValidationID(bucket: Bucket(number: 0), day: 0, high: 0, low: 1).description
                == String(repeating: "0", count: 37) + "1")
        #expect(
            ValidationID(bucket: Bucket(number: 255), day: .max, high: .max, low: .max).description
                == String(repeating: "f", count: 38))
    }

    @Test func itIsReadInEitherCaseAndFromAPartOfAText() {
        #expect(ValidationID(Self.text) == Self.id)
        #expect(ValidationID(Self.text.uppercased()) == Self.id)
        #expect(ValidationID("/entitlements/\(Self.text)".suffix(38)) == Self.id)
        #expect(ValidationID(Self.text.uppercased())?.description == Self.text)
    }

    @Test func whatIsWrittenIsReadBack() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<2_000 {
            let id = ValidationID(
                bucket: Bucket(number: .random(in: 0...255, using: &generator)),
                day: .random(in: 0...UInt16.max, using: &generator), using: &generator)
            let text = id.description
            guard text.utf8.count == 38, ValidationID(text) == id else {
                Issue.record("\(text) is not read back")
                return
            }
        }
    }

    @Test(arguments: 0..<38) func everyDigitCounts(position: Int) {
        var digits = Array(Self.text)
        digits[position] = digits[position] == "1" ? "2" : "1"
        let other = ValidationID(String(digits))
        #expect(other != nil)
        #expect(other != Self.id)
        #expect(other?.description == String(digits))
    }

    @Test(arguments: [0, 1, 36, 37, 39, 76, 1_000_000]) func anotherNumberOfDigitsIsNoID(count: Int) {
        #expect(ValidationID(String(repeating: "0", count: count)) == nil)
    }

    /// Includes the neighbours of digits and letters in ASCII.
    @Test(arguments: ["g", "G", "x", "/", ":", "@", "`", "-", "+", " ", "\n", "\0", "{", "\u{7F}"])
    func aByteThatIsNoDigitIsRefusedWhereverItStands(foreign: Character) {
        for position in 0..<38 {
            var digits = Array(Self.text)
            digits[position] = foreign
            #expect(ValidationID(String(digits)) == nil, "at \(position)")
        }
    }

    /// Digits elsewhere in Unicode do not count, neither by 38 characters nor by 38 bytes.
    @Test(arguments: ["\u{FF10}", "\u{0663}", "\u{FF41}", "é", "0\u{301}", "\u{1D7D8}"])
    func unicodeIsNoID(foreign: String) {
        let bytes = foreign.utf8.count
        #expect(ValidationID(String(repeating: foreign, count: 38)) == nil)
        #expect(ValidationID(foreign + String(repeating: "0", count: 37)) == nil)
        #expect(ValidationID(foreign + String(repeating: "0", count: 38 - bytes)) == nil)
        #expect(ValidationID(String(repeating: "0", count: 38 - bytes) + foreign) == nil)
    }

    /// Returns given numbers and counts the calls.
    private struct Words: RandomNumberGenerator {
        var words: [UInt64]
        mutating func next() -> UInt64 { words.removeFirst() }
    }

    @Test func twoWholeWordsOfTheGeneratorAreInIt() {
        var words = Words(words: [0xdead_beef_0000_0001, 0x8000_0000_cafe_f00d, 3])
        let id = ValidationID(bucket: Bucket(number: 0xab), day: 0x1234, using: &words)
        #expect(id.description == "ab1234deadbeef000000018000" + "0000cafef00d")
        #expect(words.words == [3])
    }

    @Test func eachOfThe128BitsIsRandom() {
        var generator = SeededGenerator(seed: 2)
        var ones = [Int](repeating: 0, count: 128)
        var seen: Set<ValidationID> = []
        let count = 2_000
        for _ in 0..<count {
            let id = ValidationID(bucket: Bucket(number: 0), day: 0, using: &generator)
            seen.insert(id)
            for bit in 0..<64 {
                ones[bit] += Int(id.high >> UInt64(bit) & 1)
                ones[64 + bit] += Int(id.low >> UInt64(bit) & 1)
            }
        }
        #expect(seen.count == count)
        // Five standard deviations on either side.
        #expect(ones.allSatisfy { (888...1_112).contains($0) })
    }
}
