import AppStoreSimulation
import AppleStore
import Foundation
import RelayCore

/// Documents to verify, signed by authorities that live as long as the command.
struct VerifyGoods {
    struct Good {
        let name: String
        let bytes: Int
        let read: () throws -> Void
        let verify: (ChainOfTrust) async throws -> Void
    }

    private static let bundle = "com.example.app"

    let all: [Good]
    private let roots: [[UInt8]]

    /// A trust without cached certificates.
    func trust() throws -> ChainOfTrust { ChainOfTrust(try TrustedRoots(adding: roots)) }

    init(purchases: Int) throws {
        let now = Date()
        let form = StoreAuthority.Form(validity: now.addingTimeInterval(-86_400)...now.addingTimeInterval(86_400))
        let receipts = try StoreAuthority(.receipts, name: "Benchmark", form: form)
        let transactions = try StoreAuthority(.transactions, name: "Benchmark", form: form)
        roots = [receipts.root, transactions.root]
        let scope = StoreScope(bundleIds: [BundleID(Self.bundle)], appId: nil, environments: [.production])

        let receipt = Data(try receipts.sign(Self.receipt(purchases, now))).base64EncodedString()
        let signed = try transactions.sign(json: Self.transaction(now))
        let notification = try transactions.sign(
            json: Self.notification(now, transaction: signed, renewal: transactions.sign(json: Self.renewal(now))))
        func document(_ text: String) throws -> PurchaseDocument { try PurchaseDocument(ReceiptData(text)) }
        func good(_ name: String, _ text: String) -> Good {
            Good(
                name: name, bytes: text.utf8.count, read: { _ = try document(text) },
                verify: { trust in _ = try await document(text).verify(trust, scope) })
        }
        all = [
            good("receipt of \(purchases) purchases", receipt), good("signed transaction", signed),
            Good(
                name: "notification", bytes: notification.utf8.count,
                read: { _ = try SignedNotification(notification) },
                verify: { trust in try await SignedNotification(notification).verify(trust, scope) }),
        ]
    }

    private static func receipt(_ purchases: Int, _ now: Date) -> SimulatedReceipt {
        SimulatedReceipt(
            environment: "Production", bundleId: bundle, creationDate: now,
            purchases: (0..<purchases).map { number in
                let start = now.addingTimeInterval(Double(number - purchases) * 2_592_000)
                return SimulatedReceipt.Purchase(
                    productId: "com.example.app.subscription.monthly", transactionId: "\(340_001_196_262_039 + number)",
                    originalTransactionId: "340001196262039", purchaseDate: start,
                    originalPurchaseDate: now.addingTimeInterval(Double(-purchases) * 2_592_000),
                    expiresDate: start.addingTimeInterval(2_592_000))
            })
    }

    private static func milliseconds(_ date: Date) -> Int { Int(date.timeIntervalSince1970) * 1_000 }

    private static func transaction(_ now: Date) -> Data {
        let (start, end) = (milliseconds(now), milliseconds(now) + 2_592_000_000)
        return Data(
            """
            {"transactionId":"2000000700000002","originalTransactionId":"2000000700000001","bundleId":"\(bundle)",\
            "webOrderLineItemId":"2000000090000001","productId":"com.example.app.subscription.monthly",\
            "subscriptionGroupIdentifier":"21000001","purchaseDate":\(start),"originalPurchaseDate":\(start),\
            "expiresDate":\(end),"quantity":1,"type":"Auto-Renewable Subscription","inAppOwnershipType":"PURCHASED",\
            "signedDate":\(start),"environment":"Production","transactionReason":"RENEWAL","storefront":"POL",\
            "storefrontId":"143478","price":29990,"currency":"PLN","appTransactionId":"704897469903700000"}
            """.utf8)
    }

    private static func renewal(_ now: Date) -> Data {
        Data(
            """
            {"originalTransactionId":"2000000700000001","autoRenewProductId":"com.example.app.subscription.monthly",\
            "productId":"com.example.app.subscription.monthly","autoRenewStatus":1,"signedDate":\(milliseconds(now)),\
            "environment":"Production"}
            """.utf8)
    }

    private static func notification(_ now: Date, transaction: String, renewal: String) -> Data {
        Data(
            """
            {"notificationType":"DID_RENEW","notificationUUID":"\(UUID().uuidString)","version":"2.0",\
            "signedDate":\(milliseconds(now)),"data":{"bundleId":"\(bundle)","environment":"Production","status":1,\
            "appAppleId":1234567890,"signedTransactionInfo":"\(transaction)","signedRenewalInfo":"\(renewal)"}}
            """.utf8)
    }
}
