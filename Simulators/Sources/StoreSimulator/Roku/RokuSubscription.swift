import Foundation
import SimulatorKit

/// A subscription in the simulated Roku Pay, as set by `PUT /control/subscriptions/{originalTransactionId}`.
struct RokuSubscription: Sendable, Codable {
    var channelId: Int?
    var channelName: String?
    var customerId: String?
    var productId: String?
    var productName: String?
    var amount: Double?
    var total: Double?
    var currency: String?
    var purchaseChannel: String?
    var purchaseContext: String?
    /// Start of the first period.
    var originalPurchaseDate: Date?
    /// Start of the newest period.
    var purchaseDate: Date?
    var expirationDate: Date?
    /// Transaction of the newest period; the original one until the first renewal.
    var transactionId: String?
    var cancelled: Bool?
    /// nil if it follows from the dates.
    var isEntitled: Bool?
    /// `Active`, `Inactive`, `PendingActive`, `PendingInactive`; nil if it follows from the dates.
    var purchaseStatus: String?
    /// `UPGRADE`, `DOWNGRADE`.
    var purchaseType: String?
    var cancelledTransactionIds: [String]?
    var isFreeTrial: Bool?
    /// Whether it is a one-time purchase, which is never entitled.
    var isOneTime: Bool?
    /// `grace`, `hold`: the renewal was not paid.
    var unpaid: String?

    static let fields = [
        "channelId", "channelName", "customerId", "productId", "productName", "amount", "total", "currency",
        "purchaseChannel", "purchaseContext", "originalPurchaseDate", "purchaseDate", "expirationDate", "transactionId",
        "cancelled", "isEntitled", "purchaseStatus", "purchaseType", "cancelledTransactionIds", "isFreeTrial",
        "isOneTime", "unpaid",
    ]

    /// With defaults for missing fields.
    func completed(_ original: String, at now: Date) -> RokuSubscription {
        var whole = self
        whole.channelId = channelId ?? 251_682
        whole.channelName = channelName ?? "Example Channel"
        whole.customerId = customerId ?? "1f529e15cb15426be4ddb23a4933be2d"
        whole.productId = productId ?? "gold"
        whole.productName = productName ?? whole.productId
        whole.amount = amount ?? 9.99
        whole.total = total ?? whole.amount
        whole.currency = currency ?? "usd"
        whole.purchaseChannel = purchaseChannel ?? "DEVICE"
        whole.purchaseContext = purchaseContext ?? "IAP"
        whole.originalPurchaseDate = originalPurchaseDate ?? purchaseDate ?? now
        whole.purchaseDate = purchaseDate ?? whole.originalPurchaseDate
        whole.transactionId = transactionId ?? original
        whole.cancelled = cancelled ?? false
        whole.isFreeTrial = isFreeTrial ?? false
        if isOneTime != true { whole.expirationDate = expirationDate ?? now.addingTimeInterval(30 * 86_400) }
        return whole
    }

    static func newID() -> String { UUID().uuidString.lowercased().filter { $0 != "-" } }

    func isEntitled(at now: Date) -> Bool {
        if isOneTime == true { return false }
        if let isEntitled { return isEntitled }
        return unpaid == "grace" || unpaid == nil && (expirationDate ?? now) > now
    }

    private func status(at now: Date) -> String {
        if let purchaseStatus { return purchaseStatus }
        guard isEntitled(at: now) else { return "Inactive" }
        return cancelled == true ? "PendingInactive" : "Active"
    }

    /// The answer of `validate-transaction`: missing values are null.
    func answer(_ original: String, at now: Date) -> some Encodable {
        Answer(
            originalTransactionId: original, amount: amount ?? 0, cancelled: cancelled ?? false,
            channelId: channelId ?? 0, channelName: channelName ?? "", currency: currency ?? "usd",
            expirationDate: RokuNullable(expirationDate.map(Self.date)), isEntitled: isEntitled(at: now),
            originalPurchaseDate: RokuNullable(originalPurchaseDate.map(Self.date)),
            purchaseChannel: purchaseChannel ?? "", purchaseContext: purchaseContext ?? "",
            productId: productId ?? "", productName: productName ?? "",
            purchaseDate: RokuNullable(purchaseDate.map(Self.date)), purchaseStatus: status(at: now),
            purchaseType: purchaseType, cancelledTransactionIds: cancelledTransactionIds,
            rokuCustomerId: customerId ?? "", total: total ?? 0, transactionId: transactionId ?? original)
    }

    private static func date(_ date: Date) -> String { "/Date(\(date.wholeMilliseconds)+0000)/" }

    private struct Answer: Encodable {
        var errorCode = RokuNullable<String>(nil)
        var errorDetails = RokuNullable<String>(nil)
        var errorMessage = ""
        var status = 0
        let originalTransactionId: String
        let amount: Double
        let cancelled: Bool
        let channelId: Int
        let channelName: String
        var couponCode = RokuNullable<String>(nil)
        var creditsApplied = RokuNullable<String>(nil)
        let currency: String
        let expirationDate: RokuNullable<String>
        let isEntitled: Bool
        let originalPurchaseDate: RokuNullable<String>
        var partnerReferenceId = RokuNullable<String>(nil)
        let purchaseChannel: String
        let purchaseContext: String
        let productId: String
        let productName: String
        let purchaseDate: RokuNullable<String>
        let purchaseStatus: String
        let purchaseType: String?
        let cancelledTransactionIds: [String]?
        var quantity = 1
        let rokuCustomerId: String
        var tax = 0
        let total: Double
        let transactionId: String

        private enum CodingKeys: String, CodingKey {
            case errorCode, errorDetails, errorMessage, status, amount, cancelled, channelId, channelName, couponCode,
                creditsApplied, currency, expirationDate, isEntitled, originalPurchaseDate, partnerReferenceId,
                purchaseChannel, purchaseContext, productId, productName, purchaseDate, purchaseStatus, purchaseType,
                cancelledTransactionIds, quantity, rokuCustomerId, tax, total, transactionId
            // Roku's spelling.
            case originalTransactionId = "OriginalTransactionId"
        }
    }
}

/// Writes nil as null instead of leaving it out.
struct RokuNullable<Value: Encodable>: Encodable {
    let value: Value?

    init(_ value: Value?) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value { try container.encode(value) } else { try container.encodeNil() }
    }
}
