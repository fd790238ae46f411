/// Result of checking that Apple made the receipt that an app sent.
public enum Verification: Sendable, Hashable {
    /// Not checked, or of a kind that cannot be checked here.
    case notChecked
    /// Signed by Apple, for an app and an environment of this relay.
    case genuine
    /// `code` is from a fixed set, `detail` is a sentence; neither quotes the receipt.
    case notGenuine(code: String, detail: String)
}

extension Verification {
    /// End of the ``detail`` of a purchase that its store calls not paid yet. Once it is paid, it is sent again.
    public static let unpaid = ": it is pending"

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

    /// Nil if the number is not a known result.
    public init?(result: Int16, code: String?, detail: String?) {
        switch Result(rawValue: result) {
        case .notChecked: self = .notChecked
        case .genuine: self = .genuine
        case .notGenuine: self = .notGenuine(code: code ?? "", detail: detail ?? "")
        case nil: return nil
        }
    }
}
