import RelayCore

extension StatusUpdate: Decodable {
    private enum Key: String, CodingKey {
        case notificationType = "notification_type"
        case environment
        case bundleId = "bid"
        case autoRenewProductId = "auto_renew_product_id"
        case autoRenewStatus = "auto_renew_status"
        case autoRenewStatusChangeDate = "auto_renew_status_change_date_ms"
        case originalTransactionId = "original_transaction_id"
        case unifiedReceipt = "unified_receipt"
    }

    private struct UnifiedReceipt: Decodable {
        var transactions: [Transaction]
        var renewals: [Renewal]
        var creationDate: AppleTimestamp?

        enum Key: String, CodingKey {
            case transactions = "latest_receipt_info"
            case renewals = "pending_renewal_info"
            case receipt = "latest_receipt"
        }

        /// Limit of items. The App Store writes a hundred at most.
        private static let most = 1_000

        private static func first<Part: Decodable>(
            _ fields: inout KeyedDecodingContainer<Key>, _ key: Key
        ) -> [Part] {
            guard var list = try? fields.nestedUnkeyedContainer(forKey: key) else { return [] }
            var parts: [Part] = []
            while !list.isAtEnd, parts.count < most, let part = try? list.decode(Part.self) { parts.append(part) }
            return parts
        }

        init(from decoder: any Decoder) throws {
            var fields = try decoder.container(keyedBy: Key.self)
            transactions = Self.first(&fields, .transactions)
            renewals = Self.first(&fields, .renewals)
            if let text = try? fields.decodeIfPresent(String.self, forKey: .receipt), let data = try? ReceiptData(text),
                case .appReceipt(let signed) = try? PurchaseDocument(data)
            {
                creationDate = signed.receipt.creationDate
            }
        }
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        guard let type = fields.identifier(.notificationType) else {
            throw DecodingError.dataCorruptedError(forKey: .notificationType, in: fields, debugDescription: "no type")
        }
        notificationType = type
        environment = AppleEnvironment(statusUpdate: fields.text(.environment) ?? "")
        bundleId = fields.text(.bundleId)
        autoRenewProductId = fields.text(.autoRenewProductId)
        autoRenewStatus = fields.text(.autoRenewStatus)
        autoRenewStatusChangeDate = fields.date(.autoRenewStatusChangeDate)
        let receipt = try? fields.decodeIfPresent(UnifiedReceipt.self, forKey: .unifiedReceipt)
        transactions = receipt?.transactions ?? []
        renewals = receipt?.renewals ?? []
        receiptCreationDate = receipt?.creationDate
        // Some types omit the field. Then the newest transaction names the subscription; for a refund or revocation,
        // the one that was cancelled last.
        let isTakenBack = ["REFUND", "REVOKE"].contains(type)
        func rank(_ one: Transaction) -> Int64 {
            (isTakenBack ? one.cancellationDate : one.purchaseDate)?.millisecondsSince1970 ?? 0
        }
        let newest = transactions.max { rank($0) < rank($1) }
        originalTransactionId = fields.identifier(.originalTransactionId) ?? newest?.originalTransactionId
    }
}

extension StatusUpdate.Transaction: Decodable {
    private enum Key: String, CodingKey {
        case transactionId = "transaction_id"
        case originalTransactionId = "original_transaction_id"
        case webOrderLineItemId = "web_order_line_item_id"
        case productId = "product_id"
        case purchaseDate = "purchase_date_ms"
        case originalPurchaseDate = "original_purchase_date_ms"
        case expiresDate = "expires_date_ms"
        case cancellationDate = "cancellation_date_ms"
        case isUpgraded = "is_upgraded"
        case inAppOwnershipType = "in_app_ownership_type"
        case cancellationReason = "cancellation_reason"
        case isTrialPeriod = "is_trial_period"
        case isInIntroOfferPeriod = "is_in_intro_offer_period"
        case promotionalOfferId = "promotional_offer_id"
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        transactionId = fields.identifier(.transactionId)
        originalTransactionId = fields.identifier(.originalTransactionId)
        webOrderLineItemId = fields.identifier(.webOrderLineItemId)
        productId = fields.text(.productId)
        purchaseDate = fields.date(.purchaseDate)
        originalPurchaseDate = fields.date(.originalPurchaseDate)
        expiresDate = fields.date(.expiresDate)
        cancellationDate = fields.date(.cancellationDate)
        isUpgraded = fields.text(.isUpgraded).map { $0 == "true" }
        inAppOwnershipType = fields.text(.inAppOwnershipType)
        cancellationReason = fields.identifier(.cancellationReason).flatMap { Int64($0) }
        isTrialPeriod = fields.text(.isTrialPeriod).map { $0 == "true" }
        isInIntroOfferPeriod = fields.text(.isInIntroOfferPeriod).map { $0 == "true" }
        promotionalOfferId = fields.text(.promotionalOfferId)
    }
}

extension StatusUpdate.Renewal: Decodable {
    private enum Key: String, CodingKey {
        case originalTransactionId = "original_transaction_id"
        case autoRenewProductId = "auto_renew_product_id"
        case autoRenewStatus = "auto_renew_status"
        case expirationIntent = "expiration_intent"
        case isInBillingRetryPeriod = "is_in_billing_retry_period"
        case gracePeriodExpiresDate = "grace_period_expires_date_ms"
        case priceConsentStatus = "price_consent_status"
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        originalTransactionId = fields.identifier(.originalTransactionId)
        autoRenewProductId = fields.text(.autoRenewProductId)
        autoRenewStatus = fields.text(.autoRenewStatus)
        expirationIntent = fields.identifier(.expirationIntent).flatMap { Int64($0) }
        isInBillingRetryPeriod = fields.text(.isInBillingRetryPeriod)
        gracePeriodExpiresDate = fields.date(.gracePeriodExpiresDate)
        priceConsentStatus = fields.identifier(.priceConsentStatus).flatMap { Int64($0) }
    }
}

extension AppleEnvironment {
    /// Environment as version 1 notifications spell it: production is `PROD`.
    init(statusUpdate text: String) {
        self = text.uppercased() == "PROD" ? Self(kind: .production, raw: text) : Self(raw: text)
    }
}
