/// How a purchase stands at the store, in one vocabulary for all of them. The store's own word stands beside it.
public enum StoreState: String, Sendable, Hashable, CaseIterable {
    /// Not paid yet, so nothing was bought.
    case pending
    /// It was never paid, and never will be.
    case pendingCanceled = "pending_canceled"
    case active
    /// Not paid, and access goes on for a while.
    case inGrace = "in_grace"
    /// Not paid, and access has ended until it is.
    case onHold = "on_hold"
    /// By the customer's wish: no access until it goes on by itself.
    case paused
    /// It will not renew, and runs to its end.
    case canceled
    case expired
    /// What was paid for was taken back.
    case revoked
    /// A word that this program does not know: what counts is until when it runs.
    case unknown

    /// Whether anything was ever bought.
    public var isPurchase: Bool { self != .pending && self != .pendingCanceled }

    /// Whether the store says that there is no access, whatever the dates say.
    var isShut: Bool { self == .onHold || self == .paused || self == .expired || self == .revoked }
}
