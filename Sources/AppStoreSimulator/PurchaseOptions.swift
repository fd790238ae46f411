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

    func validate() throws {
        guard ["Production", "Sandbox"].contains(environment) else {
            throw ValidationError("--environment is Production or Sandbox")
        }
        for number in [transactionID, originalTransactionID ?? transactionID] {
            guard (1...32).contains(number.utf8.count), number.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw ValidationError("a transaction's number has 1 to 32 digits")
            }
        }
        guard days.isFinite, days > 0, days < 36_500 else { throw ValidationError("--days is more than 0") }
    }

    /// - Throws: `ValidationError`, which says what to do.
    func authority(_ purpose: StoreAuthority.Purpose, name: String) throws -> StoreAuthority {
        do {
            return try StoreAuthority(purpose, in: URL(fileURLWithPath: folder, isDirectory: true), name: name)
        } catch {
            throw ValidationError(
                "\(folder) does not hold \(name)-chain.pem and \(name)-key.pem that belong together: make them with create-roots"
            )
        }
    }

    /// The fields of Apple's `JWSTransactionDecodedPayload`, as far as a purchase of today has them.
    private struct Transaction: Encodable {
        var transactionId: String
        var originalTransactionId: String
        var bundleId: String
        var productId: String
        var type = "Auto-Renewable Subscription"
        var inAppOwnershipType = "PURCHASED"
        var transactionReason = "PURCHASE"
        var quantity = 1
        var environment: String
        var storefront = "USA"
        var purchaseDate: Int64
        var originalPurchaseDate: Int64
        var expiresDate: Int64
        var signedDate: Int64
    }

    func transaction() throws -> Data {
        let now = Int64(Date().timeIntervalSince1970) * 1_000
        return try JSONEncoder().encode(
            Transaction(
                transactionId: transactionID, originalTransactionId: originalTransactionID ?? transactionID,
                bundleId: bundleID, productId: productID, environment: environment, purchaseDate: now,
                originalPurchaseDate: now, expiresDate: now + Int64(days * 86_400_000), signedDate: now))
    }

    func receipt() -> SimulatedReceipt {
        let now = Date()
        return SimulatedReceipt(
            environment: environment == "Production" ? "Production" : "ProductionSandbox", bundleId: bundleID,
            creationDate: now,
            purchases: [
                SimulatedReceipt.Purchase(
                    productId: productID, transactionId: transactionID,
                    originalTransactionId: originalTransactionID ?? transactionID, purchaseDate: now,
                    originalPurchaseDate: now, expiresDate: now.addingTimeInterval(days * 86_400))
            ])
    }
}
