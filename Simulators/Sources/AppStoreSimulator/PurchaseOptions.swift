import AppStoreSimulation
import ArgumentParser
import Foundation

/// What was bought, and with whose authority it is signed.
struct PurchaseOptions: ParsableArguments {
    @Argument(help: "What create-roots has made.")
    var folder: String

    @Option(help: "The transaction's number.")
    var transactionID: String

    @Option(help: "Of the subscription's first transaction; without it, the transaction's own.")
    var originalTransactionID: String?

    @Option(help: "Production or Sandbox.")
    var environment = "Sandbox"

    @Option(help: "The app.")
    var bundleID = "com.example.app"

    @Option(help: "What was bought.")
    var productID = "com.example.app.monthly"

    @Option(help: "For how many days.")
    var days = 30.0

    @Flag(help: "A pass: it does not renew, and its end is not the store's to say.")
    var pass = false

    func validate() throws {
        try OptionChecks.environment(environment)
        try OptionChecks.transactionNumber(transactionID)
        try OptionChecks.transactionNumber(originalTransactionID)
        guard days.isFinite, days > 0, days < 36_500 else { throw ValidationError("--days is more than 0") }
    }

    /// In JSON.
    func transaction() throws -> Data {
        // In whole seconds, as the App Store writes purchases.
        let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        var transaction = SimulatedTransaction(
            bundleId: bundleID, environment: environment, productId: productID, transactionId: transactionID,
            originalTransactionId: originalTransactionID, purchaseDate: now, expiresDate: end(of: now))
        if pass { transaction.type = "Non-Renewing Subscription" }
        return try transaction.json(signedDate: now)
    }

    private func end(of purchase: Date) -> Date? { pass ? nil : purchase.addingTimeInterval(days * 86_400) }

    func receipt() -> SimulatedReceipt {
        let now = Date()
        return SimulatedReceipt(
            environment: environment == "Production" ? "Production" : "ProductionSandbox", bundleId: bundleID,
            creationDate: now,
            purchases: [
                SimulatedReceipt.Purchase(
                    productId: productID, transactionId: transactionID,
                    originalTransactionId: originalTransactionID ?? transactionID, purchaseDate: now,
                    originalPurchaseDate: now, expiresDate: end(of: now))
            ])
    }
}
