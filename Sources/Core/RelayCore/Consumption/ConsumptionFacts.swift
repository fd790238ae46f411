/// A publisher's facts about a customer, for answers to Apple's requests about refunds.
public struct ConsumptionFacts: Sendable, Equatable {
    public enum RefundPreference: String, Sendable, CaseIterable {
        case decline = "DECLINE"
        case grantFull = "GRANT_FULL"
        case grantProrated = "GRANT_PRORATED"
    }

    /// Status in Apple's words. Apple's present API has no field for it.
    public enum UserStatus: String, Sendable, CaseIterable {
        case active = "ACTIVE"
        case suspended = "SUSPENDED"
        case terminated = "TERMINATED"
        case limitedAccess = "LIMITED_ACCESS"
    }

    /// Allowed range, in thousandths of a percent.
    public static let percentages = 0...100_000

    /// Without it, nothing is sent to Apple.
    public var customerConsented: Bool
    public var sampleContentProvided: Bool
    public var consumptionPercentage: Int?
    public var refundPreference: RefundPreference?
    public var userStatus: UserStatus?

    public init(
        customerConsented: Bool, sampleContentProvided: Bool = false, consumptionPercentage: Int? = nil,
        refundPreference: RefundPreference? = nil, userStatus: UserStatus? = nil
    ) {
        self.customerConsented = customerConsented
        self.sampleContentProvided = sampleContentProvided
        self.consumptionPercentage = consumptionPercentage
        self.refundPreference = refundPreference
        self.userStatus = userStatus
    }

    /// Whether Apple accepts the percentage with the preference. A prorated refund requires that a part, but not all,
    /// was used.
    public var isConsistent: Bool {
        guard refundPreference == .grantProrated, let consumptionPercentage else { return true }
        return consumptionPercentage > Self.percentages.lowerBound
            && consumptionPercentage < Self.percentages.upperBound
    }
}
