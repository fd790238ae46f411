import AppStoreSimulation
import ArgumentParser
import Foundation

/// Content of a notification, and the authority that signs it.
struct NotificationOptions: ParsableArguments {
    @Option(help: "What create-roots has made.")
    var roots: String

    @Option(help: "SUBSCRIBED, DID_RENEW, EXPIRED, REFUND, TEST and so on; what is not known is signed all the same.")
    var type: String

    @Option(help: "INITIAL_BUY, GRACE_PERIOD, UPGRADE and so on.")
    var subtype: String?

    @Option(help: "Of the subscription's first transaction; without it, the notification is about no purchase.")
    var originalTransactionID: String?

    @Option(help: "Of the transaction that it tells of; without it, the subscription's first.")
    var transactionID: String?

    @Option(help: "Production or Sandbox.")
    var environment = "Sandbox"

    @Option(help: "The app.")
    var bundleID = "com.example.app"

    @Option(help: "The app's number in the App Store; production names it, the sandbox does not.")
    var appAppleID: Int64?

    @Option(help: "What was bought.")
    var productID = "com.example.app.monthly"

    @Option(help: "What the next period is to be of; without it, the same.")
    var autoRenewProductID: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Seconds from now to the end of the period; less than 0 for one that is over.",
            discussion: "Default: 2592000, and 0 for what has ended or was not paid."))
    var expiresIn: Double?

    @Option(help: "Seconds from now to the end of the GRACE_PERIOD.")
    var graceIn = 1_382_400.0

    @Option(
        help:
            "Of a CONSUMPTION_REQUEST: UNINTENDED_PURCHASE, FULFILLMENT_ISSUE, UNSATISFIED_WITH_PURCHASE, LEGAL or OTHER."
    )
    var consumptionRequestReason: String?

    @Option(help: "The notification's own name, to send the same one again; without it, a new one.")
    var uuid: String?

    func validate() throws {
        try OptionChecks.environment(environment)
        try OptionChecks.transactionNumber(originalTransactionID)
        try OptionChecks.transactionNumber(transactionID)
        guard uuid.map({ UUID(uuidString: $0) != nil }) ?? true else { throw ValidationError("--uuid is a UUID") }
        for seconds in [expiresIn ?? 0, graceIn] where !(seconds.magnitude < 3_153_600_000) {
            throw ValidationError("--expires-in and --grace-in are seconds, of a hundred years at most")
        }
    }

    /// The body to post.
    func sign(_ notification: SimulatedNotification) throws -> Data {
        try StoreAuthority.kept(in: roots, for: .transactions).sign(notification)
    }
}

/// Defaults that follow from the notification's type.
extension NotificationOptions {
    func notification(at now: Date) -> SimulatedNotification {
        let subject = originalTransactionID.map { transaction(of: $0, at: now) }
        var notification = SimulatedNotification(
            notificationType: type, subtype: subtype, notificationUUID: (uuid ?? UUID().uuidString).lowercased(),
            environment: environment, bundleId: bundleID, appAppleId: appAppleID,
            status: subject.map { status($0, at: now) }, transaction: subject,
            renewal: originalTransactionID.map { renewal(of: $0, at: now) }, signedDate: now)
        notification.consumptionRequestReason = consumptionRequestReason
        return notification
    }

    private var isTakenBack: Bool { ["REFUND", "REVOKE"].contains(type) }
    private var isExpired: Bool { type == "EXPIRED" }
    private var isUnpaid: Bool { ["DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED"].contains(type) }
    private var hasGrace: Bool { type == "DID_FAIL_TO_RENEW" && subtype == "GRACE_PERIOD" }

    private func transaction(of original: String, at now: Date) -> SimulatedTransaction {
        let month: TimeInterval = 30 * 86_400
        let end = now.addingTimeInterval(expiresIn ?? (isExpired || isUnpaid ? 0 : month))
        var transaction = SimulatedTransaction(
            bundleId: bundleID, environment: environment, productId: productID,
            transactionId: transactionID ?? original, originalTransactionId: original,
            purchaseDate: end > now ? now : end.addingTimeInterval(-month), expiresDate: end)
        transaction.transactionReason = type == "DID_RENEW" ? "RENEWAL" : "PURCHASE"
        if isTakenBack {
            transaction.revocationDate = now
            transaction.revocationReason = 0
            transaction.revocationType = type == "REVOKE" ? "FAMILY_REVOKE" : "REFUND_FULL"
        }
        return transaction
    }

    private func renewal(of original: String, at now: Date) -> SimulatedRenewal {
        let isOff = subtype == "AUTO_RENEW_DISABLED" || (isExpired && subtype == "VOLUNTARY")
        let consents = ["PENDING": 0, "ACCEPTED": 1]
        return SimulatedRenewal(
            originalTransactionId: original, productId: productID, autoRenewProductId: autoRenewProductID,
            autoRenewStatus: isOff ? 0 : 1, expirationIntent: expirationIntent, isInBillingRetryPeriod: isUnpaid,
            gracePeriodExpiresDate: hasGrace ? now.addingTimeInterval(graceIn) : nil,
            priceIncreaseStatus: type == "PRICE_INCREASE" ? subtype.flatMap { consents[$0] } : nil,
            environment: environment)
    }

    /// Source: App Store Server API, `expirationIntent`.
    private var expirationIntent: Int? {
        if isUnpaid { return hasGrace ? nil : 2 }
        guard isExpired else { return nil }
        switch subtype {
        case "VOLUNTARY": return 1
        case "BILLING_RETRY": return 2
        case "PRICE_INCREASE": return 3
        case "PRODUCT_NOT_FOR_SALE": return 4
        default: return 5
        }
    }

    private func status(_ transaction: SimulatedTransaction, at now: Date) -> SimulatedNotification.Status {
        if isTakenBack { return .revoked }
        if isExpired { return .expired }
        if let end = transaction.expiresDate, end > now { return .active }
        if isUnpaid { return hasGrace && graceIn > 0 ? .grace : .billingRetry }
        return .expired
    }
}

/// `app-store-simulator sign-notification --roots FOLDER --type TYPE`
struct SignNotification: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-notification", abstract: "Writes the body of a version 2 notification.")

    @OptionGroup var notification: NotificationOptions

    func run() throws {
        print(
            String(decoding: try notification.sign(notification.notification(at: Date())), as: UTF8.self),
            terminator: "")
    }
}
