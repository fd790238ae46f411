/// The types of the App Store's notifications that this program knows (source: Apple, `notificationType` and version 1's
/// `notification_type`, 2026).
enum KnownTypes {
    static func contains(_ type: String) -> Bool { all.contains(type) }

    private static let all: Set = [
        "SUBSCRIBED", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "OFFER_REDEEMED", "DID_RENEW", "EXPIRED",
        "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "PRICE_INCREASE", "REFUND", "REFUND_DECLINED", "REFUND_REVERSED",
        "CONSUMPTION_REQUEST", "RENEWAL_EXTENDED", "RENEWAL_EXTENSION", "REVOKE", "TEST", "EXTERNAL_PURCHASE_TOKEN",
        "ONE_TIME_CHARGE", "RESCIND_CONSENT", "METADATA_UPDATE", "MIGRATION", "PRICE_CHANGE",
        // Version 1 alone.
        "INITIAL_BUY", "INTERACTIVE_RENEWAL", "DID_RECOVER", "RENEWAL", "CANCEL", "PRICE_INCREASE_CONSENT",
    ]
}
