import AppleStore
import Formats
import Relay
import RelayCore

/// The answer to a validator's client about a genuine purchase (Fovea, "Validate"). Product ids have no prefix, and
/// dates are in milliseconds.
enum ValidateAnswer {
    static func json(
        _ request: ValidateRequest, _ transaction: ValidatedTransaction, _ purchases: [CustomerPurchase], now: Timestamp
    ) -> [UInt8] {
        let newest = CustomerPurchase.newest(of: purchases)
        var writer = JSONWriter(capacity: 400 + 360 * newest.count)
        writer.beginObject()
        writer.member("ok", true)
        writer.name("data")
        writer.beginObject()
        writer.member(
            "id", request.id.isEmpty ? transaction.productID?.text ?? transaction.app?.text ?? "" : request.id)
        writer.member("latest_receipt", true)
        writer.member("date", second: now)
        writer.transaction(request.type, transaction)
        writer.name("collection")
        writer.beginArray()
        for purchase in newest { writer.item(purchase) }
        writer.endArray()
        writer.name("ineligible_for_intro_price")
        writer.beginArray()
        for purchase in newest where purchase.isTrial == true || purchase.isIntro == true {
            writer.value(purchase.productID.text)
        }
        writer.endArray()
        writer.endObject()
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func transaction(_ type: String, _ transaction: ValidatedTransaction) {
        name("transaction")
        beginObject()
        member("type", type)
        member("bundle_id", transaction.app)
        member("product_id", transaction.productID)
        member("transaction_id", transaction.transactionID)
        member("original_transaction_id", transaction.originalTransactionID)
        member("environment", transaction.environment)
        endObject()
    }

    fileprivate mutating func item(_ purchase: CustomerPurchase) {
        beginObject()
        member("id", purchase.productID)
        member("platform", purchase.platform.validatorType)
        member("purchaseId", purchase.purchaseID)
        member("transactionId", purchase.transactionID)
        milliseconds("purchaseDate", purchase.purchasedAt)
        milliseconds("lastRenewalDate", purchase.expiresAt == nil ? nil : purchase.renewedAt)
        milliseconds("expiryDate", purchase.expiresAt)
        member("isExpired", purchase.isExpired)
        member("renewalIntent", purchase.renewalIntent?.rawValue)
        milliseconds("renewalIntentChangeDate", purchase.renewalIntentChangedAt)
        member("cancelationReason", purchase.cancelationReason?.rawValue)
        member("isBillingRetryPeriod", purchase.isBillingRetry)
        member("isTrialPeriod", purchase.isTrial)
        member("isIntroPeriod", purchase.isIntro)
        member("discountId", purchase.discountID)
        member("priceConsentStatus", purchase.priceConsent?.rawValue)
        endObject()
    }

    private mutating func milliseconds(_ name: StaticString, _ moment: Timestamp?) {
        member(name, moment.map { Int($0.wholeSeconds.microseconds / 1_000) })
    }
}

/// The purchase that a client sent, by its store's data.
struct ValidatedTransaction: Sendable {
    /// Bundle id or package name; nil if unknown.
    var app: BundleID?
    var productID: ProductID?
    var transactionID: TransactionID?
    var originalTransactionID: TransactionID?
    var environment: StoreEnvironment

    init(_ receipt: ReadReceipt, _ proof: PurchaseProof) {
        environment = receipt.environment
        switch proof {
        case .apple:
            app = receipt.bundleID
            productID = receipt.productID
            transactionID = receipt.transactionID
            originalTransactionID = receipt.purchase?.originalTransactionId
        case .store(let sent):
            productID = receipt.found?.productID
            transactionID = sent.transactionID
            app = sent.app
            // The purchase token names no order.
            guard sent.platform == .google else { return }
            let periods = receipt.found?.statement.periods ?? []
            transactionID = periods.lazy.compactMap(\.transactionID).first ?? sent.orderID
        }
    }
}
