import Foundation

/// The fields of an App Store notification that the simulator uses.
struct StoreNotice: Sendable, Equatable {
    enum Version: Sendable { case one, two }

    let version: Version
    let type: String?
    let subtype: String?
    /// nil in version 1, which has no UUID.
    let uuid: String?
    let originalTransactionId: String?
    /// nil in version 1, which has no date.
    let signedAt: SimulatedTime?
    /// End of the paid period.
    let expiresAt: SimulatedTime?

    /// Reads either version. Verifies nothing: test notifications are not Apple's.
    ///
    /// - Throws: 400 for any other body.
    init(body: Data) throws(WireFault) {
        guard let body = AnyJSON.parse(body), case .object = body else {
            throw .invalidBody("The body is not a JSON object")
        }
        if let text = body["signedPayload"]?.string {
            guard let payload = AnyJSON.payload(ofJWS: text) else { throw .unreadable }
            try self.init(payload: payload)
        } else if let type = body["notification_type"]?.string {
            self.init(type, body)
        } else {
            throw .invalidBody("The body has neither signedPayload nor notification_type")
        }
    }

    /// Version 2 (App Store Server Notifications, `responseBodyV2DecodedPayload`).
    private init(payload: AnyJSON) throws(WireFault) {
        let parts = try ["signedTransactionInfo", "signedRenewalInfo"].map { name throws(WireFault) in
            let text = payload["data"]?[name]?.string
            guard let text else { return AnyJSON.null }
            guard let part = AnyJSON.payload(ofJWS: text) else { throw .unreadable }
            return part
        }
        version = .two
        type = payload["notificationType"]?.string
        subtype = payload["subtype"]?.string
        uuid = payload["notificationUUID"]?.string
        originalTransactionId = parts.lazy.compactMap { $0["originalTransactionId"]?.string }.first
        signedAt = payload["signedDate"]?.milliseconds
        expiresAt = parts[0]["expiresDate"]?.milliseconds
    }

    /// Version 1 (App Store Server Notifications, `responseBodyV1`).
    private init(_ type: String, _ body: AnyJSON) {
        var transactions: [AnyJSON] = []
        if case .array(let elements) = body["unified_receipt"]?["latest_receipt_info"] { transactions = elements }
        // Some types do not name the subscription, but the newest transaction does. A refund or revocation concerns the
        // one that was cancelled last.
        let date = ["REFUND", "REVOKE"].contains(type) ? "cancellation_date_ms" : "purchase_date_ms"
        let newest = transactions.max { ($0[date]?.milliseconds ?? .start) < ($1[date]?.milliseconds ?? .start) }
        let original = (body["original_transaction_id"] ?? newest?["original_transaction_id"])?.string
        self.version = .one
        self.type = type
        subtype = nil
        uuid = nil
        originalTransactionId = original
        signedAt = nil
        expiresAt = transactions.filter { $0["original_transaction_id"]?.string == original }
            .compactMap { $0["expires_date_ms"]?.milliseconds }.max()
    }
}

extension WireFault {
    fileprivate static let unreadable = WireFault.invalidBody("signedPayload cannot be read")
}

extension SimulatedTime {
    fileprivate static let start = SimulatedTime(microseconds: 0)
}

extension StoreNotice {
    /// Effect on the subscription's entitlement.
    enum Effect: Sendable, Equatable {
        case terminate
        /// nil keeps the known end.
        case activate(until: SimulatedTime?)
        /// The customer switched renewal on or off.
        case renewal(isOn: Bool)
        /// The renewal was not paid: access ends with the paid period.
        case lapse(at: SimulatedTime)
        /// The renewal was not paid: access continues for a while.
        case grace
    }

    /// nil if the notification is only recorded.
    var effect: Effect? {
        switch version {
        case .one: effectOfVersionOne
        case .two: effectOfVersionTwo
        }
    }

    private var effectOfVersionOne: Effect? {
        switch type {
        case "REFUND", "CANCEL", "REVOKE": .terminate
        case "DID_RENEW", "DID_RECOVER", "INTERACTIVE_RENEWAL", "INITIAL_BUY": .activate(until: expiresAt)
        default: nil
        }
    }

    private var effectOfVersionTwo: Effect? {
        switch (type, subtype) {
        case ("REFUND", _), ("REVOKE", _), ("EXPIRED", _), ("GRACE_PERIOD_EXPIRED", _): .terminate
        case ("SUBSCRIBED", _), ("DID_RENEW", _), ("OFFER_REDEEMED", _), ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"),
            ("REFUND_REVERSED", _), ("RENEWAL_EXTENDED", _):
            .activate(until: expiresAt)
        case ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"): .renewal(isOn: true)
        case ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"): .renewal(isOn: false)
        case ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"): .grace
        case ("DID_FAIL_TO_RENEW", _): expiresAt.map { Effect.lapse(at: $0) }
        default: nil
        }
    }
}
