extension Setting {
    enum Kind: Sendable, Equatable {
        case text
        /// Of what form, in words.
        case form(String)
        case port
        /// Seconds, fractions allowed, within the range.
        case seconds(ClosedRange<Double>)
        case hours(ClosedRange<Double>)
        case bytes(ClosedRange<Int>)
        case count(ClosedRange<Int>)
        case url
        /// 0 to 1.
        case ratio
        case choice([String])
        case addressRanges
        case path

        /// What may stand there.
        var values: String {
            switch self {
            case .text: "text"
            case .form(let words): words
            case .port: "0 to 65535; 0 takes any free one"
            case .seconds(let range): "\(Self.text(range)) seconds"
            case .hours(let range): "\(Self.text(range)) hours"
            case .bytes(let range): "\(range.lowerBound) to \(range.upperBound) bytes"
            case .count(let range): "\(range.lowerBound) to \(range.upperBound)"
            case .url: "an http or https URL"
            case .ratio: "0 to 1"
            case .choice(let choices): choices.map { "`\($0)`" }.joined(separator: ", ")
            case .addressRanges: "addresses and ranges, comma-separated"
            case .path: "the path of a file"
            }
        }

        private static func text(_ range: ClosedRange<Double>) -> String {
            "\(text(range.lowerBound)) to \(text(range.upperBound))"
        }

        private static func text(_ number: Double) -> String {
            Int(exactly: number).map(String.init) ?? "\(number)"
        }
    }
}
