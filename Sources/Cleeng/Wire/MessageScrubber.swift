/// Makes a text of the other side fit to be stored, logged and shown.
struct MessageScrubber: Sendable {
    static let maximumCharacters = 200
    private static let maximumInput = 65_536

    private let hidden: [String]

    /// - Parameter hidden: what an answer may echo but nobody may read: tokens, the customer's email.
    init(hiding hidden: [String]) {
        self.hidden = Set(hidden + hidden.map { $0.lowercased() }).filter { !$0.isEmpty }
            .sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
    }

    /// Without secrets and control characters, 200 characters at most; nil where nothing is left.
    func clean(_ text: String) -> String? {
        guard text.utf8.count <= Self.maximumInput else { return "(too long to show)" }
        var text = text
        // Before cutting: half a token is a secret as well.
        // By bytes: a mark before or behind a secret makes one character with its edge, and it would not be found.
        for secret in hidden {
            text = String(
                decoding: Array(text.utf8).replacing(Array(secret.utf8), with: Array("***".utf8)), as: UTF8.self)
        }
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if kept.count == Self.maximumCharacters { break }
            switch scalar.properties.generalCategory {
            case .control where scalar == "\n" || scalar == "\r" || scalar == "\t": kept.append(" ")
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: break
            default: kept.append(scalar)
            }
        }
        let cleaned = String(kept)
        return cleaned.allSatisfy(\.isWhitespace) ? nil : cleaned
    }
}
