import SimulatorKit

extension SimulatedCleeng {
    /// `POST /_simulator/customers/{email}/entitlements`: grants an entitlement at once, or changes the customer's
    /// present one to that offer.
    mutating func setEntitlement(_ email: EmailAddress, _ call: ControlCall) throws(ControlFault) -> Reply {
        try call.allowOnly("offerId", "status", "expiresAt", "originalTransactionId")
        guard let offer = call.body?["offerId"]?.string.flatMap({ OfferId($0) }) else {
            throw .invalid("offerId is required, such as S123456789_US")
        }
        guard let status = EntitlementStatus(rawValue: call.body?["status"]?.string ?? "active") else {
            throw .invalid("status is active, cancelled or terminated")
        }
        let expiresAt = try call.expiresAt()
        let named = call.body?["originalTransactionId"]?.string
        guard named.map({ (1...64).contains($0.utf8.count) }) ?? (call.body?["originalTransactionId"] == nil) else {
            throw .invalid("originalTransactionId is a text of 64 bytes at most")
        }
        ensureCustomer(email)
        customers[email]?.isKnown = true
        if let existing = entitlement(of: email, to: offer, named) {
            change(existing, of: email, to: status, expiresAt)
        } else {
            let key = named ?? "set-\(makeGrantSequence())"
            let entitlement = Entitlement(
                subscriptionId: makeSubscriptionId(), originalTransactionId: key, offerId: offer, status: status,
                grantedAt: now, expiresAt: expiresAt ?? expiry(expired: false, from: now), appType: "ios")
            establish(entitlement, for: email, by: .hand)
        }
        guard let customer = customers[email] else { throw .notFound("no such customer") }
        return Reply(json: CustomerStateView(customer, pending: []))
    }

    /// The newest running entitlement, else the newest.
    private func entitlement(of email: EmailAddress, to offer: OfferId, _ key: String?) -> Entitlement? {
        let matching = customers[email]?.entitlements.filter { entitlement in
            entitlement.offerId == offer && entitlement.replacedBy == nil
                && (key == nil || key == entitlement.originalTransactionId)
        }
        return matching?.last(where: \.status.entitles) ?? matching?.last
    }

    private mutating func change(
        _ existing: Entitlement, of email: EmailAddress, to status: EntitlementStatus, _ expiresAt: SimulatedTime?
    ) {
        customers[email]?.change(subscriptionId: existing.subscriptionId) { entitlement in
            entitlement.status = status
            entitlement.expiresAt = expiresAt ?? entitlement.expiresAt
        }
        if existing.status.entitles, !status.entitles {
            publishEnd(of: email, existing.offerId, subscriptionId: existing.subscriptionId, causedBy: email)
        }
        let key = existing.originalTransactionId
        guard subscriptions[key]?.owner?.subscriptionId == existing.subscriptionId else { return }
        subscriptions[key]?.owner?.status = status
        subscriptions[key]?.note(
            SubscriptionEvent(
                at: now, kind: .set, from: email, to: email, offerId: existing.offerId,
                subscriptionId: existing.subscriptionId, previousSubscriptionId: nil, status: status))
    }
}

extension SimulatedCleeng {
    /// `/_simulator/transactions/{transactionId}`: Apple's simulated data on a StoreKit 2 transaction.
    mutating func changeTransaction(_ id: String, _ call: ControlCall) throws(ControlFault) -> Reply {
        guard TransactionIdText.isAcceptable(id) else { throw .invalid("a transaction id is a text of digits") }
        if call.method == "PUT" {
            try call.allowOnly("originalTransactionId", "offerId", "expiresAt")
            let transaction = try Self.transaction(id, call)
            if transactions[id] == nil { _ = transactions.insert(transaction, for: id) }
            transactions[id] = transaction
        }
        let transaction = transaction(id)
        return Reply(
            json: AnyJSON.object([
                "transactionId": .string(id), "originalTransactionId": .string(transaction.originalTransactionId),
                "offerId": .string(transaction.offerId.text),
                "expiresAt": .optional(transaction.expiresAt?.unixSeconds),
            ]))
    }

    /// `/_simulator/tokens/{purchaseToken}`: Google's simulated data on a subscription.
    mutating func changePurchase(_ token: String, _ call: ControlCall) throws(ControlFault) -> Reply {
        guard PurchaseTokenText.isAcceptable(token) else { throw .invalid("a purchase token is visible ASCII") }
        if call.method == "PUT" {
            try call.allowOnly("offerId", "expiresAt")
            let purchase = StoreTransaction(
                originalTransactionId: token, offerId: try Self.offer(call), expiresAt: try call.expiresAt())
            if transactions[token] == nil { _ = transactions.insert(purchase, for: token) }
            transactions[token] = purchase
        }
        let purchase = transaction(token)
        return Reply(
            json: AnyJSON.object([
                "purchaseToken": .string(token), "offerId": .string(purchase.offerId.text),
                "expiresAt": .optional(purchase.expiresAt?.unixSeconds),
            ]))
    }

    private static func offer(_ call: ControlCall) throws(ControlFault) -> OfferId {
        guard let offer = call.body?["offerId"]?.string.flatMap({ OfferId($0) }) else {
            throw .invalid("offerId is required, such as S123456789_US")
        }
        return offer
    }

    private static func transaction(_ id: String, _ call: ControlCall) throws(ControlFault) -> StoreTransaction {
        let offer = try offer(call)
        let original = call.body?["originalTransactionId"] ?? .string(id)
        guard let original = original.string, TransactionIdText.isAcceptable(original) else {
            throw .invalid("originalTransactionId is a text of digits")
        }
        return StoreTransaction(
            originalTransactionId: original, offerId: offer, expiresAt: try call.expiresAt())
    }
}

extension SimulatedCleeng {
    /// `/_simulator/webhooks`: the address for events, including waiting ones.
    mutating func changeWebhooks(_ call: ControlCall) throws(ControlFault) -> Reply {
        switch call.method {
        case "PUT":
            try call.allowOnly("url", "secret", "signatureHeader", "signatureEncoding", "withEmail")
            webhooks = try Self.target(call.body ?? .object([:]))
        case "DELETE":
            webhooks = nil
            outbox.removeWaiting()
            repeatedReceipts = Agenda()
        default: break
        }
        return Reply(json: WebhooksView(self))
    }

    private static func target(_ body: AnyJSON) throws(ControlFault) -> WebhookTarget {
        guard let url = body["url"]?.string, let secret = body["secret"]?.string else {
            throw .invalid("url and secret are required, both texts")
        }
        let header = body["signatureHeader"] ?? .string(WebhookTarget.standardHeader)
        guard let header = header.string else { throw .invalid("signatureHeader is a text") }
        let encoding = body["signatureEncoding"] ?? .string(WebhookTarget.Encoding.hex.rawValue)
        guard let encoding = encoding.string.flatMap({ WebhookTarget.Encoding(rawValue: $0) }) else {
            throw .invalid("signatureEncoding is hex or base64")
        }
        guard case .bool(let withEmail) = body["withEmail"] ?? .bool(false) else {
            throw .invalid("withEmail is true or false")
        }
        return try WebhookTarget(
            url: url, secret: secret, signatureHeader: header, signatureEncoding: encoding, withEmail: withEmail)
    }
}
