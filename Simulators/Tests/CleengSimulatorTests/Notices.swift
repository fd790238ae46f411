import Foundation

@testable import CleengSimulator

/// Notifications as the App Store writes them, under a signature that is none.
enum Notices {
    static let path = "/1.0/in_app/subscriptions/apple/status_update_notification/123456789"
    /// When the bench's clock begins.
    static let start: Int64 = 1_800_000_000

    /// Version 2.
    /// - Parameters:
    ///   - signedAt: seconds after the start; nil for none.
    ///   - end: of what was paid for, in seconds after the start; nil for none.
    static func signed(
        _ type: String, _ subtype: String? = nil, of subscription: String = "7", signedAt: Int64? = 10,
        end: Int64? = 5_000, uuid: String = "002e14d5-51f5-4503-b5a8-c3a1af68eb20"
    ) -> String {
        var transaction = [#""originalTransactionId":"\#(subscription)","transactionId":"99""#]
        if let end { transaction.append(#""expiresDate":\#((start + end) * 1_000)"#) }
        let info = jws(transaction)
        var fields = [
            #""notificationType":"\#(type)","notificationUUID":"\#(uuid)","version":"2.0""#,
            #""data":{"environment":"Sandbox","signedTransactionInfo":"\#(info)"}"#,
        ]
        if let subtype { fields.append(#""subtype":"\#(subtype)""#) }
        if let signedAt { fields.append(#""signedDate":\#((start + signedAt) * 1_000)"#) }
        return #"{"signedPayload":"\#(jws(fields))"}"#
    }

    /// Version 1; its last transaction ends 5,000 seconds after the start.
    static func unsigned(_ type: String, of subscription: String = "7", password: String = #""hush-hush""#) -> String {
        let transactions = [100, 5_000].map { end in
            """
            {"original_transaction_id":"\(subscription)","transaction_id":"\(end)",\
            "expires_date_ms":"\((start + Int64(end)) * 1_000)"}
            """
        }
        return """
            {"notification_type":"\(type)","password":\(password),"environment":"PROD",\
            "original_transaction_id":"\(subscription)","unified_receipt":{"latest_receipt":"TUlJVHdlbHZl",\
            "latest_receipt_info":[\(transactions.joined(separator: ","))]}}
            """
    }

    private static func jws(_ fields: [String]) -> String {
        let header = #"{"alg":"ES256","x5c":["AA==","AA==","AA=="]}"#
        let payload = "{" + fields.joined(separator: ",") + "}"
        return [header, payload, "signature"].map(base64URL).joined(separator: ".")
    }

    private static func base64URL(_ text: String) -> String {
        Data(text.utf8).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

extension Bench {
    @discardableResult
    func notify(_ body: String) -> Outcome { send("POST", Notices.path, body: body, token: nil) }

    /// A bench where somebody holds the subscription `7`, granted at once.
    static func granted(to email: String = "ana+after-0@example.test") -> Bench {
        let bench = Bench()
        bench.pay(email, receipt: "sub-7-a")
        return bench
    }

    /// The end of the first entitlement, in seconds after the start.
    func end(_ email: String = "ana+after-0@example.test") -> Int64? {
        guard case .array(let items) = read(email).json?["items"] else { return nil }
        return items.first?["expiresAt"]?.integer.map { $0 - Notices.start }
    }

    /// The status of the only entitlement.
    func status(_ email: String = "ana+after-0@example.test") throws -> String? {
        let listed = try entitlements(email)
        return listed.count == 1 ? listed[0].split(separator: " ").last.map(String.init) : nil
    }

    /// What the log holds of notifications.
    func notices() throws -> [AnyJSON] {
        let page = try control("GET", "/_simulator/requests?path=/1.0/in_app/")
        if case .array(let items) = page["items"] { return items }
        return []
    }
}
