import AppStoreSimulation
import Foundation

/// A test's own App Store. Relays with its ``settings`` trust it.
struct TestAppStore: Sendable {
    let transactions: StoreAuthority
    let receipts: StoreAuthority
    /// The file with both roots.
    let rootsFile: String

    /// Receipt keys take a second to make, so all stores except strangers share one.
    private static let sharedReceipts = Result { try StoreAuthority(.receipts, name: "Test Receipts", form: form) }
    private static let form = StoreAuthority.Form(
        validity: Date(timeIntervalSinceNow: -86_400)...Date(timeIntervalSinceNow: 86_400))

    /// - Parameter isStranger: whether relays that trust another store do not trust this one.
    init(isStranger: Bool = false) throws {
        transactions = try StoreAuthority(.transactions, name: "Test Transactions", form: Self.form)
        receipts =
            isStranger
            ? try StoreAuthority(.receipts, name: "Test Receipts", form: Self.form) : try Self.sharedReceipts.get()
        rootsFile = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).pem").path
        let pem = [transactions, receipts].map { $0.rootPEM + "\n" }.joined()
        try Data(pem.utf8).write(to: URL(fileURLWithPath: rootsFile))
    }

    func end() { try? FileManager.default.removeItem(atPath: rootsFile) }

    func settings(_ verification: String) -> [String: String] {
        [
            "RELAY_APPLE_VERIFICATION": verification, "RELAY_APPLE_EXTRA_ROOTS": rootsFile,
            "RELAY_APPLE_BUNDLE_IDS": "com.example.app",
        ]
    }

    /// A signed transaction as an app posts it.
    func purchase(
        email: String, bundle: String = "com.example.app", original id: String = TestPurchase.newTransactionID()
    ) throws -> TestPurchase {
        let now = Int(Date().timeIntervalSince1970) * 1_000
        var purchase = TestPurchase(email: email, original: id)
        purchase.receipt = try transactions.sign(
            json: Data(
                """
                {"transactionId":"\(id)","originalTransactionId":"\(id)","bundleId":"\(bundle)",\
                "productId":"com.example.month","environment":"Sandbox","type":"Auto-Renewable Subscription",\
                "purchaseDate":\(now),"originalPurchaseDate":\(now),"expiresDate":\(now + 2_592_000_000),\
                "signedDate":\(now)}
                """.utf8))
        return purchase
    }

    /// An app receipt as an app posts it.
    func receiptPurchase(email: String) throws -> TestPurchase {
        let id = TestPurchase.newTransactionID()
        var purchase = TestPurchase(email: email, original: id)
        let now = Date()
        let receipt = SimulatedReceipt(
            environment: "ProductionSandbox", bundleId: "com.example.app", creationDate: now,
            purchases: [
                SimulatedReceipt.Purchase(
                    productId: "com.example.month", transactionId: id, originalTransactionId: id, purchaseDate: now,
                    originalPurchaseDate: now, expiresDate: now.addingTimeInterval(2_592_000))
            ])
        purchase.receipt = Data(try receipts.sign(receipt)).base64EncodedString()
        return purchase
    }
}
