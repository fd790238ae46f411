/// What Apple would say of a transaction if it were asked.
struct StoreTransaction: Sendable, Equatable {
    /// By which its subscription is known.
    let originalTransactionId: String
    let offerId: OfferId
    /// nil: not known, and not over.
    let expiresAt: Moment?

    func isOver(at moment: Moment) -> Bool { expiresAt.map { $0 <= moment } ?? false }
}
