/// A StoreKit 2 purchase that is looked at, or was.
struct Synchronization: Sendable {
    enum Kind: Sendable, Equatable {
        /// The purchase is made known.
        case registration
        /// It is to go to another customer.
        case transfer
    }

    struct Outcome: Sendable, Equatable {
        let result: SynchronizationResult
        let accessGranted: Bool
        let offerId: OfferId
        let originalTransactionId: String
    }

    let id: String
    /// Among synchronizations and grants, in the order of arrival.
    let sequence: Int
    let kind: Kind
    let transactionId: String
    /// To whom the purchase is to belong.
    let email: CustomerEmail
    let customerId: Int
    /// The behaviour of that customer when the call came.
    let behaviour: Behaviour
    /// nil while it runs.
    var outcome: Outcome?
}
