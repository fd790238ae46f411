import AppStoreSimulation
import AppleStore
import Foundation

/// Valid inputs of every kind to start from.
enum AppleSeeds {
    private static let now = Date()
    private static let form = StoreAuthority.Form(
        validity: now.addingTimeInterval(-86_400)...now.addingTimeInterval(86_400))
    private static let receipts = try? StoreAuthority(.receipts, name: "Fuzz", form: form)
    private static let transactions = try? StoreAuthority(.transactions, name: "Fuzz", form: form)

    static let trust = ChainOfTrust(
        (try? TrustedRoots(adding: [receipts, transactions].compactMap { $0?.root })) ?? .appleOnly)
    static let scope = StoreScope(bundleIds: [], appId: nil, environments: [.production, .sandbox])

    static var all: [[UInt8]] {
        let receipt = (try? receipts?.sign(receipt)) ?? []
        let base64 = Array(Data(receipt).base64EncodedString().utf8)
        let payload = [3] + Array(transaction.utf8)
        let transaction = signed(transaction)
        let propertyList = Array(
            #"{"signature" = "AAAA"; "purchase-info" = "eyJ0cmFuc2FjdGlvbi1pZCIgPSAiMSI7fQ=="; "pod" = "1";}"#.utf8)
        return [
            [0] + receipt, [1] + base64, [2] + receipt, [1] + Array(transaction.utf8), [2] + Array(transaction.utf8),
            [0] + propertyList, payload,
        ]
    }

    static let transactionBytes = Array(signed(transaction).utf8)

    /// Statements of an OCSP responder about the certificate that signs ``transactionBytes``.
    static var statements: [[UInt8]] {
        guard let transactions, var responder = try? OCSPResponder([transactions]) else { return [] }
        var statements = [responder.reply(to: [], at: now)]
        for answer in OCSPResponder.Answer.allCases {
            responder.answer = answer
            statements += (try? responder.statement(about: transactions, at: now)).map { [$0] } ?? []
        }
        responder.answer = .usual
        responder.revoke("leaf")
        return statements + ((try? responder.statement(about: transactions, at: now)).map { [$0] } ?? [])
    }

    static var notifications: [[UInt8]] {
        let transaction = signed(transaction)
        let renewal = signed(
            #"{"originalTransactionId":"1","autoRenewStatus":1,"environment":"Sandbox","signedDate":\#(milliseconds)}"#)
        let notification = signed(
            #"{"notificationType":"DID_RENEW","notificationUUID":"n","version":"2.0","signedDate":\#(milliseconds),"data":{"environment":"Sandbox","bundleId":"com.example.app","status":1,"signedTransactionInfo":"\#(transaction)","signedRenewalInfo":"\#(renewal)"}}"#
        )
        let statusUpdate =
            #"{"notification_type":"DID_RENEW","environment":"PROD","password":"p","auto_renew_status":"true","auto_renew_status_change_date_ms":"\#(milliseconds)","unified_receipt":{"latest_receipt_info":[{"transaction_id":"2","original_transaction_id":"1","product_id":"month","purchase_date_ms":"\#(milliseconds)","expires_date_ms":"\#(milliseconds)"}],"pending_renewal_info":[{"original_transaction_id":"1","auto_renew_status":"1","grace_period_expires_date_ms":"\#(milliseconds)"}]}}"#
        let payload =
            #"{"notificationType":"DID_RENEW","notificationUUID":"n","version":"2.0","signedDate":\#(milliseconds),"data":{"environment":"Sandbox","bundleId":"com.example.app","status":1}}"#
        return [notification, payload, #"{"signedPayload":"\#(notification)"}"#, statusUpdate].map { Array($0.utf8) }
    }

    private static var milliseconds: Int { Int(now.timeIntervalSince1970) * 1_000 }

    private static var transaction: String {
        #"{"transactionId":"2","originalTransactionId":"1","bundleId":"com.example.app","productId":"month","environment":"Sandbox","purchaseDate":\#(milliseconds),"expiresDate":\#(milliseconds),"signedDate":\#(milliseconds),"type":"Auto-Renewable Subscription"}"#
    }

    private static func signed(_ json: String) -> String {
        (try? transactions?.sign(json: Data(json.utf8))) ?? ""
    }

    private static var receipt: SimulatedReceipt {
        SimulatedReceipt(
            environment: "ProductionSandbox", bundleId: "com.example.app", creationDate: now,
            purchases: [
                SimulatedReceipt.Purchase(
                    productId: "month", transactionId: "2", originalTransactionId: "1", purchaseDate: now,
                    originalPurchaseDate: now, expiresDate: now.addingTimeInterval(2_592_000))
            ])
    }
}
