import TestSupport

/// Corrupts valid inputs, the same way in every run. Replaces libFuzzer where that is missing.
struct Mutator {
    /// Texts that have broken readers before: limits of numbers, halves of characters, syntax.
    static let tokens = [
        "0", "-1", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "4102444800000",
        "253402300799",
        "253402300799000", "253402300800000", "1e308", "1e999", "-0.0", "NaN", "\\u0000", "\\ud800", "\\udc00\\ud800",
        "\u{0}",
        "\u{600}", "\u{301}", "\u{212A}", "\u{FFFD}", "%00", "%", "%ff", "\"", "\\", "{", "}", "[", "]", ",", ":", "=",
        "&", ";",
        "null", "true", "9999-12-31T23:59:59Z", "0000-01-01", "+23:59", "2026-02-30T00:00:00Z", "/", "..", "\r\n",
    ].map { Array($0.utf8) }

    private var generator: SeededGenerator
    private let seeds: [[UInt8]]

    init(_ seeds: [[UInt8]], seed: UInt64) {
        self.seeds = seeds
        generator = SeededGenerator(seed: seed)
    }

    mutating func next() -> [UInt8] {
        guard var input = seeds.randomElement(using: &generator) else { return [] }
        for _ in 0..<Int.random(in: 1...4, using: &generator) { mutate(&input) }
        return input
    }

    private mutating func mutate(_ input: inout [UInt8]) {
        let token = Self.tokens.randomElement(using: &generator) ?? []
        let place = Int.random(in: 0...input.count, using: &generator)
        let end = min(input.count, place + Int.random(in: 0...16, using: &generator))
        switch Int.random(in: 0..<7, using: &generator) {
        case 0, 1:
            guard let digits = number(in: input, from: place) else { return }
            input.replaceSubrange(digits, with: token)
        case 2: input.insert(contentsOf: token, at: place)
        case 3: input.replaceSubrange(place..<end, with: token)
        case 4: input.removeSubrange(place..<end)
        case 5: input.insert(contentsOf: input[place..<end], at: place)
        default:
            guard place < input.count else { return }
            input[place] = UInt8.random(in: 0...255, using: &generator)
        }
    }

    /// The next run of digits.
    private func number(in input: [UInt8], from place: Int) -> Range<Int>? {
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
        guard let start = input[place...].firstIndex(where: isDigit) else { return nil }
        return start..<(input[start...].firstIndex { !isDigit($0) } ?? input.count)
    }
}
