import Foundation
import SimulatorKit

/// A purchase in the simulated Amazon Appstore, as set by `PUT /control/subscriptions/{receiptId}`.
struct AmazonPurchase: Sendable, Codable {
    static let examplePackage = "com.example.app"

    /// Used only in notifications.
    var appPackageName: String?
    var userId: String?
    /// `SUBSCRIPTION`, `ENTITLED`, `CONSUMABLE`.
    var productType: String?
    var productId: String?
    var termSku: String?
    var term: String?
    var purchaseDate: Date?
    var renewalDate: Date?
    var cancelDate: Date?
    var cancelReason: Int?
    var autoRenewing: Bool?
    var gracePeriodEndDate: Date?
    var freeTrialEndDate: Date?
    var testTransaction: Bool?
    var betaProduct: Bool?

    static let fields = [
        "appPackageName", "userId", "productType", "productId", "termSku", "term", "purchaseDate", "renewalDate",
        "cancelDate", "cancelReason", "autoRenewing", "gracePeriodEndDate", "freeTrialEndDate", "testTransaction",
        "betaProduct",
    ]

    /// With defaults for missing fields.
    func completed(at now: Date) -> AmazonPurchase {
        var whole = self
        whole.appPackageName = appPackageName ?? Self.examplePackage
        whole.userId = userId ?? "user-1"
        whole.productType = productType ?? "SUBSCRIPTION"
        whole.productId = productId ?? "gold"
        whole.purchaseDate = purchaseDate ?? now
        guard whole.productType == "SUBSCRIPTION" else { return whole }
        whole.termSku = termSku ?? "\(whole.productId ?? "gold")-monthly"
        whole.term = term ?? "1 Month"
        whole.renewalDate = renewalDate ?? now.addingTimeInterval(30 * 86_400)
        whole.autoRenewing = autoRenewing ?? true
        return whole
    }

    /// The service's answer: missing values are null.
    func answer(_ receiptID: String) -> some Encodable {
        func date(_ date: Date?) -> Nullable<Int64> { Nullable(date.map(\.wholeMilliseconds)) }
        return Answer(
            autoRenewing: autoRenewing ?? false, betaProduct: betaProduct ?? false, cancelDate: date(cancelDate),
            cancelReason: Nullable(cancelReason), freeTrialEndDate: date(freeTrialEndDate),
            gracePeriodEndDate: date(gracePeriodEndDate), productId: productId ?? "", productType: productType ?? "",
            purchaseDate: date(purchaseDate), quantity: Nullable(productType == "CONSUMABLE" ? 1 : nil),
            receiptId: receiptID, renewalDate: date(renewalDate), term: Nullable(term), termSku: Nullable(termSku),
            testTransaction: testTransaction ?? false)
    }

    private struct Answer: Encodable {
        let autoRenewing: Bool
        let betaProduct: Bool
        let cancelDate: Nullable<Int64>
        let cancelReason: Nullable<Int>
        let freeTrialEndDate: Nullable<Int64>
        let gracePeriodEndDate: Nullable<Int64>
        var parentProductId = Nullable<String>(nil)
        let productId: String
        let productType: String
        let purchaseDate: Nullable<Int64>
        let quantity: Nullable<Int>
        let receiptId: String
        let renewalDate: Nullable<Int64>
        let term: Nullable<String>
        let termSku: Nullable<String>
        let testTransaction: Bool
    }
}

/// Writes nil as null instead of leaving it out.
private struct Nullable<Value: Encodable>: Encodable {
    let value: Value?

    init(_ value: Value?) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value { try container.encode(value) } else { try container.encodeNil() }
    }
}
