/// Makes personal data fit for logs.
public enum Redaction {
    private static let maximumDomainScalars = 64

    /// `ana@example.test` becomes `a***@example.test`.
    ///
    /// Safe for any input: what has no `@` becomes `***`, the domain is cut after 64 characters, and whatever is not a
    /// letter, digit, dot or hyphen is replaced, so that the answer is always short and printable.
    public static func shortened(email: String) -> String {
        let scalars = email.unicodeScalars
        guard let at = scalars.lastIndex(of: "@") else { return "***" }
        var answer = String.UnicodeScalarView()
        if let first = scalars.first, first != "@" {
            answer.append(isPlain(first) ? first : "*")
        }
        answer.append(contentsOf: "***@".unicodeScalars)
        let domain = scalars[scalars.index(after: at)...].prefix(maximumDomainScalars + 1)
        for scalar in domain.prefix(maximumDomainScalars) {
            answer.append(isPlain(scalar) ? scalar : "?")
        }
        if domain.count > maximumDomainScalars {
            answer.append("…")
        }
        return String(answer)
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "." || scalar == "-"
        }
        return switch scalar.properties.generalCategory {
        case .lowercaseLetter, .uppercaseLetter, .otherLetter, .decimalNumber: true
        default: false
        }
    }
}

extension String {
    /// This email as logs may show it; see ``Redaction/shortened(email:)``.
    public func shortenedAsEmail() -> String {
        Redaction.shortened(email: self)
    }
}
