public import RelayCore

/// A pursuit whose lease this process holds.
public struct ClaimedPursuit: Sendable {
    public let id: ValidationID
    /// The claim's number: every write names it, and a newer claim makes it void.
    public let fence: Int32
    public let publisher: PublisherID
    public let subscriptionKey: TransactionID
    public let customer: CustomerID
    public let email: EmailAddress
    public let offerID: OfferID
    /// The claim took the right to send for this subscription along.
    public let isSending: Bool
    /// Older requests for the same subscription still wait to be sent.
    public let overtakes: Bool
    /// A newer request for the same subscription has been sent already.
    public let isOvertaken: Bool
    /// Claims before this one, in a row, after which nobody gave it back.
    public let strikes: Int
    /// That of whoever sent the purchase; see ``StoredTrace``.
    public let trace: String?
    /// The store's; `unknown` where Apple did not sign the receipt. With ``subscriptionKey`` it names the subscription.
    public let environment: StoreEnvironment
    public var pursuit: Pursuit

    /// As many strikes set a pursuit aside.
    static let strikesToPark = 20
    /// As many, and it goes on alone: should it be what ends the process, its neighbours are spared.
    static let strikesToIsolate = 10

    public var isSuspect: Bool { strikes >= Self.strikesToIsolate }
}

/// What the upstream is sent of a purchase.
public struct Purchase: Sendable {
    /// By which it is known what was bought.
    public enum Proof: Sendable {
        case receipt(Acceptance.Receipt)
        /// What another store gave the app.
        case store(StoreReceipt)
        /// The App Store's transaction, of the customer with this number at Cleeng.
        case transaction(cleengCustomer: Int64)
    }

    public var email: EmailAddress
    public var offerID: OfferID
    public var transactionID: TransactionID
    public var appType: String
    public var ipAddress: Private<String>?
    public var couponCode: CouponID?
    public var proof: Proof
}
