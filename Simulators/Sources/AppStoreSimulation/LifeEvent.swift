/// Something that happens to a subscription, as it is asked for by name.
public enum LifeEvent: Sendable, Hashable {
    case buy
    case renew
    case fail(hasGrace: Bool)
    case graceEnded
    case recover
    case upgrade(productId: String)
    case downgrade(productId: String)
    case turn(SimulatedSubscription.Renewal)
    case expire
    case refund
    case reverseRefund
    case resubscribe
    case revoke
}

/// What cannot be done, and why.
public struct LifeError: Error, Hashable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }

    static let nothingBought = LifeError("nothing was bought yet")
}
