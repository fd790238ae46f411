public import RelayCore

/// Why a purchase goes on no longer, or will not, as far as the store says.
public struct StoreCancellation: Sendable, Hashable {
    public enum Reason: Sendable, Hashable, CaseIterable {
        case customer
        case customerNotEnoughUse
        case customerTechnicalIssues
        case customerCost
        case customerFoundBetter
        case customerOther
        case developer
        /// The store itself, such as for a payment that failed.
        case system
        /// By another purchase, such as of a dearer product.
        case replaced
        /// It is over, and the store does not say why.
        case unknown

        /// In the words that a publisher's back end gets.
        public var word: CancelationReason {
            switch self {
            case .customer: .customer
            case .customerNotEnoughUse: .notUsefulEnough
            case .customerTechnicalIssues: .technicalIssues
            case .customerCost: .cost
            case .customerFoundBetter: .foundBetterApp
            case .customerOther: .otherReason
            case .developer: .developer
            case .system: .system
            case .replaced: .replaced
            case .unknown: .unknown
            }
        }

        public var cancelationReason: String { word.rawValue }

        /// The nearest of Apple's numbers, which the ledger knows: 1 cancelled, 2 not paid, 5 other.
        var expirationIntent: Int {
            switch self {
            case .customer, .customerNotEnoughUse, .customerTechnicalIssues, .customerCost, .customerFoundBetter,
                .customerOther:
                1
            case .system: 2
            case .developer, .replaced, .unknown: 5
            }
        }
    }

    public var reason: Reason
    /// When it was decided, as far as the store says.
    public var at: Timestamp?

    public init(_ reason: Reason, at: Timestamp? = nil) {
        self.reason = reason
        self.at = at
    }
}
