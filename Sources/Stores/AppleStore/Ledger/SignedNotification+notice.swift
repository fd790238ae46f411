import Foundation
import RelayCore

extension SignedNotification {
    /// Parts that concern no purchase: a guardian's withdrawn consent, and purchases outside the store.
    private static let parts = ["appData", "externalPurchaseToken"]

    /// The part that publishers' endpoints receive; nil if there is none.
    func notice(of notification: StoreNotification) -> String? {
        guard payload.data == nil,
            let fields = (try? JSONSerialization.jsonObject(with: Data(jws.payload))) as? [String: Any],
            let name = Self.parts.first(where: { fields[$0] is [String: Any] }), let part = fields[name],
            let data = try? JSONSerialization.data(
                withJSONObject: part, options: [.sortedKeys, .withoutEscapingSlashes])
        else { return nil }
        return notification.notice(name, json: data)
    }
}
