extension TransactionPayload: Decodable {
    private enum Key: String, CodingKey {
        case transactionId, originalTransactionId, previousOriginalTransactionId, webOrderLineItemId, appTransactionId
        case bundleId, productId, subscriptionGroupIdentifier, environment, signedDate, purchaseDate
        case originalPurchaseDate, expiresDate, quantity, type, appAccountToken, inAppOwnershipType, revocationDate
        case revocationReason, revocationType, revocationPercentage, isUpgraded, offerType, offerIdentifier
        case offerDiscountType, offerPeriod, transactionReason, storefront, storefrontId, price, currency
        case billingPlanType
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        transactionId = fields.identifier(.transactionId)
        originalTransactionId = fields.identifier(.originalTransactionId)
        previousOriginalTransactionId = fields.identifier(.previousOriginalTransactionId)
        webOrderLineItemId = fields.identifier(.webOrderLineItemId)
        appTransactionId = fields.identifier(.appTransactionId)
        bundleId = fields.text(.bundleId)
        productId = fields.text(.productId)
        subscriptionGroupIdentifier = fields.identifier(.subscriptionGroupIdentifier)
        environment = AppleEnvironment(raw: fields.text(.environment) ?? "")
        signedDate = fields.date(.signedDate)
        purchaseDate = fields.date(.purchaseDate)
        originalPurchaseDate = fields.date(.originalPurchaseDate)
        expiresDate = fields.date(.expiresDate)
        quantity = fields.integer(.quantity)
        type = fields.open(.type)
        appAccountToken = fields.identifier(.appAccountToken)
        inAppOwnershipType = fields.open(.inAppOwnershipType)
        revocationDate = fields.date(.revocationDate)
        revocationReason = fields.open(.revocationReason)
        revocationType = fields.open(.revocationType)
        revocationPercentage = fields.integer(.revocationPercentage)
        isUpgraded = fields.bool(.isUpgraded)
        offerType = fields.open(.offerType)
        offerIdentifier = fields.text(.offerIdentifier)
        offerDiscountType = fields.open(.offerDiscountType)
        offerPeriod = fields.text(.offerPeriod)
        transactionReason = fields.open(.transactionReason)
        storefront = fields.text(.storefront)
        storefrontId = fields.identifier(.storefrontId)
        price = fields.integer(.price)
        currency = fields.text(.currency)
        billingPlanType = fields.text(.billingPlanType)
        isRevoked = fields.isPresent(.revocationDate)
    }
}

extension KeyedDecodingContainer {
    fileprivate func isPresent(_ key: Key) -> Bool {
        contains(key) && (try? decodeNil(forKey: key)) == false
    }
}
