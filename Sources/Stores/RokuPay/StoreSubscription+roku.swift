import OutboundHTTP
import RelayCore
import StoreAPI

// Everything uncertain about Roku's transaction service is in this file (source: Roku, "Roku Pay web service"):
//
// - Roku publishes no table of errors. Other sources report status 200 with `status` 1 and `UNAUTHORIZED` for a wrong
//   key, and status 400 for a malformed id. The text for an unknown id is not known.
// - Roku does not say which transaction shows the newest period. "Call with the transactionId of the subscription"
//   suggests that any does.
// - The answer does not state the length of grace. Roku's pages say three days.

/// An answer from Roku without a transaction.
struct RokuRefusal {
    private enum Kind { case notAPurchase, key, passing, unknown }

    private let kind: Kind
    private let word: String

    /// Reads an answer of status 200; nil for a transaction.
    ///
    /// Unknown text counts as a problem for an operator, never as a missing purchase: a purchase must not suffer from
    /// an answer that the relay does not understand.
    init?(_ json: JSONValue) {
        switch json["status"]?.scalarText?.lowercased() {
        case nil, "0", "success": return nil
        default: break
        }
        let said = [json["errorMessage"], json["errorCode"], json["errorDetails"]]
            .compactMap { $0?.scalarText?.lowercased() }.joined(separator: " ")
        func speaks(of words: String...) -> Bool { words.contains { said.contains($0) } }
        if speaks(of: "unauthori", "forbidden", "api key", "apikey", "not allowed") {
            (kind, word) = (.key, "the API key is refused")
        } else if speaks(of: "timeout", "timed out", "try again", "unavailable", "internal", "exception", "throttl") {
            (kind, word) = (.passing, "refused")
        } else if speaks(of: "not found", "not exist", "no transaction", "unknown transaction", "invalid transaction") {
            (kind, word) = (.notAPurchase, "unknown")
        } else {
            (kind, word) = (.unknown, "it refuses in words that the relay does not know")
        }
    }

    /// | status | means |
    /// | --- | --- |
    /// | 404 | a correct address never returns it: our settings |
    /// | 400 | not a purchase if the id is malformed; else our settings |
    /// | 401, 403 | our key |
    /// | 408, 409, 429, 5xx | try again |
    /// | all else | our settings |
    ///
    /// - Parameter isPlainID: whether the id looks like Roku's.
    init(status: Int, isPlainID: Bool) {
        switch status {
        case 400 where !isPlainID: (kind, word) = (.notAPurchase, "invalid")
        case 401, 403: (kind, word) = (.key, "the API key is refused")
        case 408, 409, 425, 429, 500...: (kind, word) = (.passing, "HTTP \(status)")
        default: (kind, word) = (.unknown, "HTTP \(status)")
        }
    }

    func answer(retryAfter: Duration?) -> StoreAnswer<StoreSubscription> {
        switch kind {
        case .notAPurchase: .notAPurchase(word)
        case .key, .unknown: .misconfigured(word)
        case .passing: .tryAgain(word, retryAfter: retryAfter)
        }
    }
}

extension StoreSubscription {
    /// Three days, according to Roku's pages.
    private static let grace = Duration.seconds(3 * 86_400)
    /// How long an entitlement past all stated dates is trusted. Roku is asked again an hour before that.
    private static let entitledFor = Duration.seconds(7_200)

    /// A transaction from `validate-transaction`. Nil if it names no product. Other fields are optional, so that
    /// changes by Roku break nothing.
    ///
    /// | `isEntitled` | `expirationDate` | `cancelled` | state |
    /// | --- | --- | --- | --- |
    /// | true | future | false | active |
    /// | true | future | true | canceled |
    /// | true | past | false | in grace |
    /// | true | past | true | canceled: its last day |
    /// | false | past | false | on hold |
    /// | false | future | false | expired: replaced by another |
    /// | false | | true | expired |
    /// | missing | | | unknown: its dates count |
    ///
    /// `purchaseStatus` `PendingActive` (a downgrade that has not begun) takes precedence: the state is unknown, and
    /// the dates count. Roku's page says that it is not entitled; the example says that it is. A purchase without an
    /// end was paid once; Roku reports no entitlement for it.
    ///
    /// - Parameters:
    ///   - asked: the transaction by which Roku was asked. A later one finds the subscription too, but its key is the
    ///     original one.
    ///   - readAt: when Roku was asked.
    init?(roku json: JSONValue, asked: String, readAt: Timestamp) {
        guard let product = json["productId"]?.scalarText, !product.isEmpty else { return nil }
        // Only the original transaction's name begins with a capital in Roku's pages. Both spellings are accepted.
        let transaction = json.named("transactionId") ?? asked
        let original = json.named("OriginalTransactionId") ?? json.named("originalTransactionId")
        let key = TransactionID(original ?? transaction)
        let expiry = json["expirationDate"].flatMap(Self.date)
        // An unreadable date must not count as a missing one: access would never end.
        guard expiry != nil || json.named("expirationDate") == nil else { return nil }
        let isCancelled = json["cancelled"]?.flag ?? false
        let isEntitled = json["isEntitled"]?.flag
        let status = json["purchaseStatus"]?.text?.lowercased().filter { $0 != "_" && $0 != " " }
        guard let expiry else {
            var item = Item(productID: ProductID(product))
            item.orderID = TransactionID(transaction)
            self.init(
                .roku, .oneTime, key: key, items: [item], state: isCancelled ? .revoked : .active, isTest: false,
                readAt: readAt)
            firstPurchasedAt = Self.firstPurchase(json)
            return
        }
        let isToCome = expiry > readAt
        let state: StoreState =
            switch (isEntitled, isCancelled || status == "pendinginactive") {
            case _ where status == "pendingactive": .unknown
            case (true, false): isToCome ? .active : .inGrace
            case (true, true): .canceled
            case (false, false): isToCome ? .expired : .onHold
            case (false, true): .expired
            case (nil, _): .unknown
            }
        var item = Item(productID: ProductID(product))
        item.orderID = TransactionID(transaction)
        item.expiresAt = state == .canceled && !isToCome ? readAt + Self.entitledFor : expiry
        item.autoRenews = !isCancelled && state != .expired && status != "pendinginactive"
        self.init(.roku, .subscription, key: key, items: [item], state: state, isTest: false, readAt: readAt)
        firstPurchasedAt = Self.firstPurchase(json)
        switch state {
        case .inGrace:
            (paidUntil, graceUntil) = (expiry, max(expiry + Self.grace, readAt + Self.entitledFor))
        case .canceled: cancellation = StoreCancellation(.unknown)
        case .expired:
            cancellation = StoreCancellation(isToCome && !isCancelled ? .replaced : .unknown)
        default: break
        }
        // Only an upgrade replaces a subscription. After a downgrade, the old one runs until its end.
        if json["purchaseType"]?.text?.uppercased() == "UPGRADE",
            let replaced = json["cancelledTransactionIds"]?.list?.first?.scalarText, !replaced.isEmpty
        {
            previousKey = TransactionID(replaced)
        }
    }

    private static func firstPurchase(_ json: JSONValue) -> Timestamp? {
        (json["originalPurchaseDate"] ?? json["purchaseDate"]).flatMap(date)
    }

    /// Reads `/Date(1581033062000+0000)/`: milliseconds since 1970; the offset is only for display. Any other date form
    /// is accepted too.
    private static func date(_ value: JSONValue) -> Timestamp? {
        guard let text = value.text, text.hasPrefix("/Date(") else { return value.moment }
        let digits = text.dropFirst(6).prefix { $0.isASCII && $0.isNumber }
        guard let milliseconds = Int64(digits), milliseconds > 0 else { return nil }
        let (microseconds, isTooLarge) = milliseconds.multipliedReportingOverflow(by: 1_000)
        return isTooLarge ? nil : Timestamp(datable: microseconds)
    }
}

extension JSONValue {
    /// Whether this is a refund, which gives no access. Its amount is negative, and it has neither an end nor an
    /// original transaction.
    var isRokuRefund: Bool {
        self["amount"]?.scalarText?.hasPrefix("-") == true && named("expirationDate") == nil
    }

    /// Roku writes missing values as null, as an empty text, or not at all.
    fileprivate func named(_ member: String) -> String? {
        self[member]?.scalarText.flatMap { $0.isEmpty ? nil : $0 }
    }
}
