extension TransactionPayload {
    public enum ProductType: String, Sendable, Hashable {
        case autoRenewableSubscription = "Auto-Renewable Subscription"
        case nonRenewingSubscription = "Non-Renewing Subscription"
        case consumable = "Consumable"
        case nonConsumable = "Non-Consumable"
    }

    public enum OwnershipType: String, Sendable, Hashable {
        case purchased = "PURCHASED"
        case familyShared = "FAMILY_SHARED"
    }

    public enum RevocationReason: Int64, Sendable, Hashable {
        case other = 0
        case issueInApp = 1
    }

    public enum RevocationType: String, Sendable, Hashable {
        case fullRefund = "REFUND_FULL"
        case proratedRefund = "REFUND_PRORATED"
        case familyRevoke = "FAMILY_REVOKE"
    }

    public enum OfferType: Int64, Sendable, Hashable {
        case introductory = 1
        case promotional = 2
        case offerCode = 3
        case winBack = 4
    }

    public enum OfferDiscountType: String, Sendable, Hashable {
        case freeTrial = "FREE_TRIAL"
        case payAsYouGo = "PAY_AS_YOU_GO"
        case payUpFront = "PAY_UP_FRONT"
        case oneTime = "ONE_TIME"
    }

    public enum TransactionReason: String, Sendable, Hashable {
        case purchase = "PURCHASE"
        case renewal = "RENEWAL"
    }
}
