/// Attribute 1707 of a purchase, as observed.
public enum InAppProductType: Int64, Sendable, Hashable {
    case nonConsumable = 0
    case consumable = 1
    case nonRenewingSubscription = 2
    case autoRenewableSubscription = 3
    /// A free subscription, last seen in 2015.
    case freeSubscription = 4
}
