public import Foundation

/// One subscription's life, as the App Store would tell it.
///
/// Every event changes how the subscription stands and returns the notification that tells of it. Nothing here has a clock,
/// signs or sends: what happens, happens when and only when it is called.
///
///     var life = SimulatedSubscription(firstTransactionId: 2_000_000_700_000_001)
///     let bought = life.bought(at: start)
///     let renewed = life.renewed(at: start + life.period)
///     let body = try authority.sign(renewed)
///
/// ``bought(at:)`` comes first; without it there is nothing to tell of, and all else ends the program.
public struct SimulatedSubscription: Sendable {
    public var bundleId: String
    public var environment: String
    public var appAppleId: Int64?
    /// Written into each transaction from then on.
    public var appAccountToken: String?
    /// `PURCHASED` or `FAMILY_SHARED`, likewise.
    public var inAppOwnershipType = "PURCHASED"
    /// Seconds from the beginning of a period to its end.
    public var period: TimeInterval

    public internal(set) var originalTransactionId: String
    /// One for each period, oldest first.
    public internal(set) var transactions: [SimulatedTransaction] = []

    var autoRenewProductId: String
    var willRenew = true
    var renewalTurnedAt: Date?
    var isInBillingRetry = false
    var graceUntil: Date?
    var expirationIntent: Int?
    var priceIncreaseStatus: Int?
    /// It was said to have ended, whatever its dates are.
    var isOver = false
    var previousOriginalTransactionId: String?
    private var nextTransactionId: Int64
    private let uuid: @Sendable () -> UUID

    /// - Parameters:
    ///   - firstTransactionId: the number of the first transaction and so of the subscription; the others count on from it.
    ///   - period: in seconds.
    ///   - uuid: names the notifications.
    public init(
        firstTransactionId: Int64, productId: String = "com.example.app.monthly", bundleId: String = "com.example.app",
        environment: String = "Sandbox", appAppleId: Int64? = nil, appAccountToken: String? = nil,
        period: TimeInterval = 30 * 86_400, uuid: @escaping @Sendable () -> UUID = { UUID() }
    ) {
        self.bundleId = bundleId
        self.environment = environment
        self.appAppleId = appAppleId
        self.appAccountToken = appAccountToken
        self.period = period
        self.uuid = uuid
        originalTransactionId = String(firstTransactionId)
        nextTransactionId = firstTransactionId
        autoRenewProductId = productId
    }

    /// The newest one, which an app may post too.
    public var transaction: SimulatedTransaction {
        guard let newest = transactions.last else { preconditionFailure("nothing was bought yet") }
        return newest
    }

    /// Begins a period that was paid for, which ends all trouble with payments.
    mutating func begin(at start: Date, reason: String) {
        let first = transactions.first { $0.originalTransactionId == originalTransactionId }
        var transaction = SimulatedTransaction(
            bundleId: bundleId, environment: environment, productId: autoRenewProductId,
            // A subscription goes by the number of its first transaction.
            transactionId: first == nil ? originalTransactionId : String(nextTransactionId),
            originalTransactionId: originalTransactionId,
            webOrderLineItemId: String(nextTransactionId + Self.firstLine), purchaseDate: start,
            originalPurchaseDate: first?.originalPurchaseDate, expiresDate: start.addingTimeInterval(period))
        transaction.inAppOwnershipType = inAppOwnershipType
        transaction.appAccountToken = appAccountToken
        transaction.transactionReason = reason
        transaction.previousOriginalTransactionId = previousOriginalTransactionId
        transactions.append(transaction)
        nextTransactionId += 1
        willRenew = true
        isInBillingRetry = false
        graceUntil = nil
        expirationIntent = nil
        priceIncreaseStatus = nil
        isOver = false
    }

    /// - Parameter transactionId: nil for the newest one.
    @discardableResult
    mutating func change(
        _ transactionId: String? = nil, _ body: (inout SimulatedTransaction) -> Void
    ) -> SimulatedTransaction {
        let index = transactions.lastIndex { transactionId == nil || $0.transactionId == transactionId }
        guard let index else { preconditionFailure("there is no such transaction") }
        body(&transactions[index])
        return transactions[index]
    }

    func uuidText() -> String { uuid().uuidString.lowercased() }

    /// Lines of orders have numbers of their own.
    private static let firstLine: Int64 = 500_000_000
}
