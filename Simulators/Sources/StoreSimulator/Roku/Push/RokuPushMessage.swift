import Foundation
import SimulatorKit

/// An event of a subscription, with Roku's name for it.
struct RokuTransaction: Sendable {
    let type: String
    let id: String

    init(_ type: String, _ id: String) {
        self.type = type
        self.id = id
    }
}

/// The content of a Roku push.
struct RokuPushMessage: Sendable {
    /// Type such as `Sale`.
    let type: String
    let transactionID: String?
    /// Text that the answer must contain.
    let responseKey: String?
    let json: Data

    init(_ transaction: RokuTransaction, of kept: RokuSubscription, _ original: String, at now: Date) {
        var object: [String: Any] = [
            "customerId": kept.customerId ?? "", "transactionType": transaction.type, "transactionId": transaction.id,
            "channelId": String(kept.channelId ?? 0), "productCode": kept.productId ?? "",
            "productName": kept.productName ?? "", "originalTransactionId": original,
            "isFreeTrial": kept.isFreeTrial ?? false,
        ]
        let isFirst = transaction.id == original
        if !isFirst, let first = kept.originalPurchaseDate { object["originalPurchaseDate"] = Self.date(first) }
        switch transaction.type {
        case "Sale", "UpgradeSale":
            object["channelName"] = kept.channelName
            object["purchaseChannel"] = kept.purchaseChannel
            object["purchaseContext"] = kept.purchaseContext
            object["currency"] = kept.currency
            if transaction.type == "Sale" {
                (object["price"], object["total"], object["tax"]) = (kept.amount, kept.total, 0)
            }
            object["comments"] = isFirst ? "New order processed." : "Recurring subscription processed"
        case "Refund", "Chargeback":
            object["price"] = -(kept.amount ?? 0)
            object["total"] = -(kept.total ?? 0)
            object["tax"] = 0
            object["currency"] = kept.currency
            object["partnerReferenceId"] = ""
        case "Resubscribe":
            for name in ["price", "total", "tax"] { object[name] = 0 }
            object["currency"] = kept.currency
        default: break
        }
        if !["Refund", "Chargeback", "Resubscribe"].contains(transaction.type), let end = kept.expirationDate {
            object["expirationDate"] = Self.date(end)
        }
        self.init(object, at: now)
    }

    /// - Parameter object: any JSON object. Fields that every message has are added if missing.
    init(_ object: [String: Any], at now: Date) {
        let whole = [
            "customerId": "1f529e15cb15426be4ddb23a4933be2d", "eventDate": Self.date(now),
            "responseKey": RokuSubscription.newID(),
        ].merging(object) { $1 }
        let json = try? JSONSerialization.data(
            withJSONObject: whole, options: [.sortedKeys, .withoutEscapingSlashes])
        self.init(json: json ?? Data(), whole)
    }

    /// - Parameter text: any text, like the dashboard's test message.
    init(text: String) { self.init(json: Data(text.utf8), [:]) }

    private init(json: Data, _ object: [String: Any]) {
        self.json = json
        type = object["transactionType"] as? String ?? "UNKNOWN"
        transactionID = object["originalTransactionId"] as? String ?? object["transactionId"] as? String
        responseKey = object["responseKey"] as? String
    }

    private static func date(_ date: Date) -> String { date.formatted(.iso8601) }
}
