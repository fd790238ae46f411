public import Foundation

/// The history of one subscription, as the App Store reports it.
///
/// Every event changes the subscription's status and returns its notification. Nothing here has a clock, signs or
/// sends: an event happens only when its method is called.
///
///     var life = SimulatedSubscription(firstTransactionId: 2_000_000_700_000_001)
///     let bought = life.bought(at: start)
///     let renewed = life.renewed(at: start + life.period)
///     let body = try authority.sign(renewed)
///
/// ``bought(at:)`` must be called first: without a purchase, other methods end the program.
public struct SimulatedSubscription: Sendable {
    public var bundleId: String
    public var environment: String
    public var appAppleId: Int64?
    /// Written into each later transaction.
    public var appAccountToken: String?
    /// `PURCHASED` or `FAMILY_SHARED`; written into each later transaction.
    public var inAppOwnershipType = "PURCHASED"
    /// Seconds from the beginning of a period to its end.
    public var period: TimeInterval

    public internal(set) var originalTransactionId: String
    /// One transaction for each period, oldest first.
    public internal(set) var transactions: [SimulatedTransaction] = []

    var autoRenewProductId: String
    var willRenew = true
    var renewalTurnedAt: Date?
    var isInBillingRetry = false
    var graceUntil: Date?
    var expirationIntent: Int?
    var priceIncreaseStatus: Int?
    /// Whether its end was reported, whatever its dates are.
    var isOver = false
    var previousOriginalTransactionId: String?
    private var nextTransactionId: Int64
    private let uuid: @Sendable () -> UUID

    /// - Parameters:
    ///   - firstTransactionId: number of the first transaction and so of the subscription; later numbers count on from
    ///     it.
    ///   - period: length in seconds.
    ///   - uuid: creates ids of notifications.
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

    /// The newest transaction, which an app may post too.
    public var transaction: SimulatedTransaction {
        guard let newest = transactions.last else { preconditionFailure("nothing was bought yet") }
        return newest
    }

    /// Begins a paid period, which ends all payment problems.
    mutating func begin(at start: Date, reason: String) {
        let first = transactions.first { $0.originalTransactionId == originalTransactionId }
        var transaction = SimulatedTransaction(
            bundleId: bundleId, environment: environment, productId: autoRenewProductId,
            // The first transaction's number is the subscription's.
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

    /// - Parameter transactionId: nil for the newest transaction.
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

    /// Order lines are numbered separately.
    private static let firstLine: Int64 = 500_000_000
}

/// Purchase, payment and failed payment.
extension SimulatedSubscription {
    /// `SUBSCRIBED`, `INITIAL_BUY`.
    @discardableResult
    public mutating func bought(at moment: Date) -> SimulatedNotification {
        begin(at: moment, reason: "PURCHASE")
        return notification("SUBSCRIBED", "INITIAL_BUY", at: moment)
    }

    /// `SUBSCRIBED`, `RESUBSCRIBE`: the subscription had ended and was bought again.
    ///
    /// - Parameter productId: nil for the previous product.
    @discardableResult
    public mutating func resubscribed(to productId: String? = nil, at moment: Date) -> SimulatedNotification {
        if let productId { autoRenewProductId = productId }
        begin(at: moment, reason: "PURCHASE")
        return notification("SUBSCRIBED", "RESUBSCRIBE", at: moment)
    }

    /// `DID_RENEW`: the next period begins where the last one ends.
    @discardableResult
    public mutating func renewed(at moment: Date) -> SimulatedNotification {
        begin(at: transaction.expiresDate ?? moment, reason: "RENEWAL")
        return notification("DID_RENEW", at: moment)
    }

    /// `DID_FAIL_TO_RENEW`, with `GRACE_PERIOD` if there is one: the payment failed and is retried.
    @discardableResult
    public mutating func renewalFailed(at moment: Date, graceUntil: Date? = nil) -> SimulatedNotification {
        isInBillingRetry = true
        self.graceUntil = graceUntil
        let hasEnded = transaction.expiresDate.map { $0 <= moment } ?? false
        expirationIntent = hasEnded && graceUntil == nil ? Intent.notPaid : nil
        return notification("DID_FAIL_TO_RENEW", graceUntil == nil ? nil : "GRACE_PERIOD", at: moment)
    }

    /// `GRACE_PERIOD_EXPIRED`: the payment is still retried, without access.
    @discardableResult
    public mutating func graceEnded(at moment: Date) -> SimulatedNotification {
        isInBillingRetry = true
        graceUntil = nil
        expirationIntent = Intent.notPaid
        return notification("GRACE_PERIOD_EXPIRED", at: moment)
    }

    /// `DID_RENEW`, `BILLING_RECOVERY`: the payment succeeded. Days of grace are part of the new period, others are
    /// not.
    @discardableResult
    public mutating func recovered(at moment: Date) -> SimulatedNotification {
        let end = transaction.expiresDate ?? moment
        let isInGrace = graceUntil.map { moment < $0 } ?? false
        begin(at: isInGrace ? end : max(end, moment), reason: "RENEWAL")
        return notification("DID_RENEW", "BILLING_RECOVERY", at: moment)
    }

    /// `EXPIRED`, with a subtype that depends on the status. It is `VOLUNTARY` if renewal is off, `BILLING_RETRY` if
    /// the payment failed, `PRICE_INCREASE` without the requested consent, else none.
    @discardableResult
    public mutating func expired(at moment: Date) -> SimulatedNotification {
        let cause = causeOfEnd
        isInBillingRetry = false
        graceUntil = nil
        expirationIntent = cause.intent
        isOver = true
        return notification("EXPIRED", cause.subtype, at: moment)
    }

    private var causeOfEnd: (subtype: String?, intent: Int) {
        if !willRenew { return ("VOLUNTARY", Intent.turnedOff) }
        if isInBillingRetry { return ("BILLING_RETRY", Intent.notPaid) }
        if priceIncreaseStatus == 0 { return ("PRICE_INCREASE", Intent.noConsent) }
        return (nil, Intent.other)
    }

    /// Source: App Store Server API, `expirationIntent`.
    private enum Intent {
        static let turnedOff = 1
        static let notPaid = 2
        static let noConsent = 3
        static let other = 5
    }
}

/// Changes that customers and Apple make to a subscription.
extension SimulatedSubscription {
    /// Whether the subscription will renew.
    public enum Renewal: Sendable {
        case on, off
    }

    /// `DID_CHANGE_RENEWAL_STATUS`, `AUTO_RENEW_ENABLED` or `AUTO_RENEW_DISABLED`.
    @discardableResult
    public mutating func renewalTurned(_ renewal: Renewal, at moment: Date) -> SimulatedNotification {
        willRenew = renewal == .on
        renewalTurnedAt = moment
        return notification(
            "DID_CHANGE_RENEWAL_STATUS", willRenew ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED", at: moment)
    }

    /// `DID_CHANGE_RENEWAL_PREF`, `UPGRADE`: a period of the more expensive product begins at once.
    @discardableResult
    public mutating func upgraded(to productId: String, at moment: Date) -> SimulatedNotification {
        change { $0.isUpgraded = true }
        autoRenewProductId = productId
        begin(at: moment, reason: "PURCHASE")
        return notification("DID_CHANGE_RENEWAL_PREF", "UPGRADE", at: moment)
    }

    /// `DID_CHANGE_RENEWAL_PREF`, `DOWNGRADE`: the cheaper product begins with the next period. Without a subtype if
    /// the product is the current one: Apple reports a customer's change of mind this way.
    @discardableResult
    public mutating func downgraded(to productId: String, at moment: Date) -> SimulatedNotification {
        autoRenewProductId = productId
        let isBack = productId == transaction.productId
        return notification("DID_CHANGE_RENEWAL_PREF", isBack ? nil : "DOWNGRADE", at: moment)
    }

    /// `REFUND`.
    ///
    /// - Parameter transactionId: nil for the newest transaction.
    @discardableResult
    public mutating func refunded(at moment: Date, transactionId: String? = nil) -> SimulatedNotification {
        let refunded = change(transactionId) { transaction in
            transaction.revocationDate = moment
            transaction.revocationReason = 0
            transaction.revocationType = "REFUND_FULL"
        }
        return notification("REFUND", about: refunded, at: moment)
    }

    /// `REFUND_REVERSED`: the refund was cancelled and the customer charged.
    ///
    /// - Parameter transactionId: nil for the newest transaction.
    @discardableResult
    public mutating func refundReversed(at moment: Date, transactionId: String? = nil) -> SimulatedNotification {
        let restored = change(transactionId) { transaction in
            transaction.revocationDate = nil
            transaction.revocationReason = nil
            transaction.revocationType = nil
        }
        return notification("REFUND_REVERSED", about: restored, at: moment)
    }

    /// `REVOKE`: the family no longer shares it.
    @discardableResult
    public mutating func revoked(at moment: Date) -> SimulatedNotification {
        change { transaction in
            transaction.revocationDate = moment
            transaction.revocationReason = 0
            transaction.revocationType = "FAMILY_REVOKE"
        }
        return notification("REVOKE", at: moment)
    }

    /// `RENEWAL_EXTENDED`: the period ends later, without a charge.
    ///
    /// - Parameter seconds: length of the extension.
    @discardableResult
    public mutating func extended(by seconds: TimeInterval, at moment: Date) -> SimulatedNotification {
        change { $0.expiresDate = $0.expiresDate?.addingTimeInterval(seconds) }
        return notification("RENEWAL_EXTENDED", at: moment)
    }

    /// `PRICE_INCREASE`, `ACCEPTED` or `PENDING`.
    @discardableResult
    public mutating func priceIncrease(agreed: Bool, at moment: Date) -> SimulatedNotification {
        priceIncreaseStatus = agreed ? 1 : 0
        return notification("PRICE_INCREASE", agreed ? "ACCEPTED" : "PENDING", at: moment)
    }

    /// The subscription moves into a bundle of subscriptions, or out of one, under another number. Apple does not say
    /// which notification type reports that. The transaction names the previous number.
    @discardableResult
    public mutating func movedToBundle(
        newOriginalTransactionId: String, at moment: Date
    ) -> SimulatedNotification {
        previousOriginalTransactionId = originalTransactionId
        originalTransactionId = newOriginalTransactionId
        begin(at: moment, reason: "PURCHASE")
        return notification("SUBSCRIBED", "INITIAL_BUY", at: moment)
    }
}

/// Notifications and receipts of the subscription.
extension SimulatedSubscription {
    /// The app receipt at a moment, with all periods so far.
    public func receipt(at moment: Date) -> SimulatedReceipt {
        SimulatedReceipt(
            environment: environment == "Sandbox" ? "ProductionSandbox" : environment, bundleId: bundleId,
            creationDate: moment,
            purchases: transactions.map { transaction in
                SimulatedReceipt.Purchase(
                    productId: transaction.productId, transactionId: transaction.transactionId,
                    originalTransactionId: transaction.originalTransactionId, purchaseDate: transaction.purchaseDate,
                    originalPurchaseDate: transaction.originalPurchaseDate, expiresDate: transaction.expiresDate,
                    cancellationDate: transactions.cancellationDate(of: transaction),
                    webOrderLineItemId: transaction.webOrderLineItemId.flatMap { Int64($0) })
            })
    }

    /// Current renewal information of the newest period.
    public var renewal: SimulatedRenewal { renewalInformation(besides: transaction) }

    /// A version 1 notification of the current status, which has no date of its own.
    ///
    /// - Parameter type: `INITIAL_BUY`, `DID_RENEW`, `CANCEL` and so on.
    public func statusUpdate(_ type: String, password: String?) -> SimulatedStatusUpdate {
        SimulatedStatusUpdate(
            notificationType: type, password: password, environment: environment == "Production" ? "PROD" : environment,
            bundleId: bundleId, autoRenewStatus: willRenew, autoRenewStatusChangeDate: renewalTurnedAt,
            autoRenewProductId: autoRenewProductId, originalTransactionId: originalTransactionId,
            transactions: transactions, renewals: [renewal])
    }

    /// - Parameter signed: nil for the newest transaction.
    func notification(
        _ type: String, _ subtype: String? = nil, about signed: SimulatedTransaction? = nil, at moment: Date
    ) -> SimulatedNotification {
        let signed = signed ?? transaction
        return SimulatedNotification(
            notificationType: type, subtype: subtype, notificationUUID: uuidText(), environment: environment,
            bundleId: bundleId, appAppleId: appAppleId, status: status(at: moment), transaction: signed,
            renewal: renewalInformation(besides: signed), signedDate: moment)
    }

    /// Has the number of the transaction beside it, which may be from before a move.
    private func renewalInformation(besides signed: SimulatedTransaction) -> SimulatedRenewal {
        SimulatedRenewal(
            originalTransactionId: signed.originalTransactionId, productId: transaction.productId,
            autoRenewProductId: autoRenewProductId, autoRenewStatus: willRenew ? 1 : 0,
            expirationIntent: expirationIntent, isInBillingRetryPeriod: isInBillingRetry,
            gracePeriodExpiresDate: graceUntil, priceIncreaseStatus: priceIncreaseStatus, environment: environment)
    }

    private func status(at moment: Date) -> SimulatedNotification.Status {
        if isOver, transaction.revocationDate == nil { return .expired }
        return SimulatedNotification.Status(transaction, renewal, at: moment)
    }
}

/// An event of a subscription, requested by name.
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

/// An event that is not possible, with the reason.
public struct LifeError: Error, Hashable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }

    static let nothingBought = LifeError("nothing was bought yet")
}

/// Events by name. Not every event is possible at any time.
extension SimulatedSubscription {
    /// Earliest time of an event; nil if it may happen at once.
    public func earliest(for event: LifeEvent) -> Date? {
        guard let newest = transactions.last else { return nil }
        switch event {
        case .renew, .expire: return newest.expiresDate
        // Purchase times are in whole seconds: without this, the upgrade would not be later.
        case .upgrade: return newest.purchaseDate.inWholeSeconds.addingTimeInterval(1)
        default: return nil
        }
    }

    /// - Returns: the event's notification. Purchase times are in whole seconds, like the App Store's.
    /// - Throws: if the event is not possible now; nothing has changed then.
    public mutating func happen(
        _ event: LifeEvent, at moment: Date
    ) throws(LifeError) -> SimulatedNotification {
        if let objection = objection(to: event, at: moment) { throw objection }
        let second = moment.inWholeSeconds
        var signed =
            switch event {
            case .buy: bought(at: second)
            case .renew: renewed(at: moment)
            case .fail(let hasGrace):
                renewalFailed(at: moment, graceUntil: hasGrace ? max(end, moment).addingTimeInterval(period) : nil)
            case .graceEnded: graceEnded(at: moment)
            case .recover: recovered(at: second)
            case .upgrade(let productId): upgraded(to: productId, at: second)
            case .downgrade(let productId): downgraded(to: productId, at: moment)
            case .turn(let renewal): renewalTurned(renewal, at: moment)
            case .expire: expired(at: moment)
            case .refund: refunded(at: moment)
            case .reverseRefund: refundReversed(at: moment)
            case .resubscribe: resubscribed(at: second)
            case .revoke: revoked(at: moment)
            }
        // Statements within the same second still need an order.
        signed.signedDate = moment
        return signed
    }

    /// Why an event is not possible; nil if it is.
    public func objection(to event: LifeEvent, at moment: Date) -> LifeError? {
        reason(against: event, at: moment).map { LifeError($0) }
    }

    /// The newest transaction.
    ///
    /// - Throws: if nothing was bought yet.
    public var newest: SimulatedTransaction {
        get throws(LifeError) {
            guard let newest = transactions.last else { throw .nothingBought }
            return newest
        }
    }

    private func reason(against event: LifeEvent, at moment: Date) -> String? {
        guard let newest = transactions.last else { return event == .buy ? nil : LifeError.nothingBought.description }
        if event == .buy { return "it was bought already" }
        if event == .reverseRefund {
            return newest.revocationType == "REFUND_FULL" ? nil : "the newest period was not refunded"
        }
        let isGone = newest.revocationDate != nil || isOver
        if event == .resubscribe { return isGone || end <= moment ? nil : "it has not ended" }
        if newest.revocationDate != nil { return "it was taken back" }
        // A refund is possible after the end too.
        if event == .refund || event == .revoke { return nil }
        return isOver ? "it has ended" : reason(againstGoingOnWith: event)
    }

    /// Why a running subscription refuses the event.
    private func reason(againstGoingOnWith event: LifeEvent) -> String? {
        switch event {
        case .renew where isInBillingRetry: "the payment has failed"
        case .renew where !willRenew, .fail where !willRenew: "renewal is turned off"
        case .graceEnded where graceUntil == nil: "there is no grace"
        case .recover where !isInBillingRetry: "no payment has failed"
        case .upgrade(transaction.productId), .downgrade(autoRenewProductId): "that is the product already"
        case .turn(.on) where willRenew: "renewal is turned on"
        case .turn(.off) where !willRenew: "renewal is turned off"
        default: nil
        }
    }

    private var end: Date { transaction.expiresDate ?? .distantFuture }
}

extension Date {
    fileprivate var inWholeSeconds: Date { Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.down)) }
}
