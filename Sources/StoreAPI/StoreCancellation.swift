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

        /// Fovea's word for it.
        public var cancelationReason: String {
            switch self {
            case .customer: "Customer"
            case .customerNotEnoughUse: "Customer.NotUsefulEnough"
            case .customerTechnicalIssues: "Customer.TechnicalIssues"
            case .customerCost: "Customer.Cost"
            case .customerFoundBetter: "Customer.FoundBetterApp"
            case .customerOther: "Customer.OtherReason"
            case .developer: "Developer"
            case .system: "System"
            case .replaced: "System.Replaced"
            case .unknown: "Unknown"
            }
        }

        /// The same in the ledger's words.
        var word: CancelationReason { CancelationReason(rawValue: cancelationReason) ?? .unknown }

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
