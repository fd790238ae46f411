import AppleStore
import Foundation
import RelayCore
import StoreSignals

/// Content of a notification, as JSON for people. Signed parts are decoded. The shared secret, the receipts of version
/// 1 and Roku's personal data are masked.
struct NotificationContent {
    var payload: String?
    var transaction: String?
    var renewal: String?

    /// - Parameter store: the sender.
    init(_ body: [UInt8], of store: String) {
        let platform = StorePlatform(rawValue: store)
        if platform == .apple { readApple(body) }
        if let signal = platform?.signal { payload = signal.payload(of: body).flatMap(Self.json) }
    }

    private mutating func readApple(_ body: [UInt8]) {
        switch try? ServerNotification(body: body) {
        case .signed(let signed):
            payload = Self.json(signed.jws.payload)
            transaction = signed.transaction.flatMap { Self.json($0.jws.payload) }
            renewal = signed.renewal.flatMap { Self.json($0.jws.payload) }
        case .statusUpdate:
            guard var fields = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] else { return }
            Self.mask(&fields)
            payload = Self.text(fields)
        case nil: break
        }
    }

    /// Masks the shared secret and the receipts: with a receipt, a reader could claim its purchases.
    private static func mask(_ fields: inout [String: Any]) {
        for name in ["password", "latest_receipt", "latest_expired_receipt"] where fields[name] != nil {
            fields[name] = "***"
        }
        guard var unified = fields["unified_receipt"] as? [String: Any] else { return }
        mask(&unified)
        fields["unified_receipt"] = unified
    }

    private static func json(_ bytes: [UInt8]) -> String? {
        (try? JSONSerialization.jsonObject(with: Data(bytes))).flatMap(text)
    }

    private static func text(_ object: Any) -> String? {
        guard JSONSerialization.isValidJSONObject(object),
            let data = try? JSONSerialization.data(
                withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}
