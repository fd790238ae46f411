import AppStoreSimulation
import ArgumentParser
import Foundation

/// What a notification tells, and with whose authority it is signed.
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

    /// The body that is posted.
    func sign(_ told: SimulatedNotification) throws -> Data {
        try StoreAuthority.kept(in: roots, for: .transactions).sign(told)
    }
}
