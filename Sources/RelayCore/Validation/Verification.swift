/// What is known of whether Apple made what an app sent as its receipt.
public enum Verification: Sendable, Hashable {
    /// It was not looked at, or is of a kind that cannot be judged here.
    case notChecked
    /// Signed by Apple, and for an app and an environment that this relay speaks for.
    case genuine
    /// `code` is one of a fixed set of words, `detail` a sentence; neither quotes the receipt.
    case notGenuine(code: String, detail: String)
}

extension Verification {
    /// The value that is stored and sent.
    public enum Result: Int16, Sendable, CaseIterable {
        case notChecked = 0
        case genuine = 1
        case notGenuine = 2

        public var name: String {
            switch self {
            case .notChecked: "not_checked"
            case .genuine: "genuine"
            case .notGenuine: "not_genuine"
            }
        }
    }

    public var result: Result {
        switch self {
        case .notChecked: .notChecked
        case .genuine: .genuine
        case .notGenuine: .notGenuine
        }
    }

    public var code: String? {
        if case .notGenuine(let code, _) = self { code } else { nil }
    }

    public var detail: String? {
        if case .notGenuine(_, let detail) = self { detail } else { nil }
    }

    /// Nil for a number that is none of these.
    public init?(result: Int16, code: String?, detail: String?) {
        switch Result(rawValue: result) {
        case .notChecked: self = .notChecked
        case .genuine: self = .genuine
        case .notGenuine: self = .notGenuine(code: code ?? "", detail: detail ?? "")
        case nil: return nil
        }
    }
}
