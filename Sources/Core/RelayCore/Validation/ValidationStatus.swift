/// Status of a validation, as apps see it. Raw values are stored.
///
/// ARCHITECTURE.md lists the transitions. `rejected` and `timed_out` may change later: by an answer or an entitlement
/// read after the deadline, or by an operator's retry.
public enum ValidationStatus: Int16, Sendable, CaseIterable {
    case pending = 0
    case granted = 1
    case rejected = 2
    case timedOut = 3
    case transferred = 4
    case revoked = 5

    public var name: String {
        switch self {
        case .pending: "pending"
        case .granted: "granted"
        case .rejected: "rejected"
        case .timedOut: "timed_out"
        case .transferred: "transferred"
        case .revoked: "revoked"
        }
    }

    public init?(name: String) {
        guard let status = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = status
    }

    public var isFinalForPolling: Bool { self != .pending }
    public var accessGranted: Bool { self == .granted }

    /// Whether an operator may send the purchase upstream again.
    public var allowsRetry: Bool { self == .pending || self == .timedOut || self == .rejected }

    /// Whether an operator may end the pursuit.
    public var allowsAbandon: Bool { self == .pending || self == .timedOut }
}
