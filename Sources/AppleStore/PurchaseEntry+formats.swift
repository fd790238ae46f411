import RelayCore

extension PurchaseEntry {
    init(_ purchase: InAppPurchase) {
        originalTransactionId = Self.usable(purchase.originalTransactionId)
        transactionId = Self.usable(purchase.transactionId)
        productId = purchase.productId
        kind = Self.kind(purchase.productType?.known, expires: purchase.expiresDate)
        purchaseDate = purchase.purchaseDate
        originalPurchaseDate = purchase.originalPurchaseDate
        expiresDate = purchase.expiresDate
        cancellationDate = purchase.cancellationDate
        isCancelled = purchase.isCancelled
        quantity = purchase.quantity
        webOrderLineItemId = purchase.webOrderLineItemId.flatMap { $0 == 0 ? nil : TransactionID(String($0)) }
        isTrialPeriod = purchase.isTrialPeriod
        isInIntroductoryOfferPeriod = purchase.isInIntroductoryOfferPeriod
        promotionalOfferId = purchase.promotionalOfferId
    }

    init(_ receipt: TransactionReceipt) {
        originalTransactionId = Self.usable(receipt.originalTransactionId)
        transactionId = Self.usable(receipt.transactionId)
        productId = receipt.productId
        kind = Self.kind(nil, expires: receipt.expiresDate)
        purchaseDate = receipt.purchaseDate
        originalPurchaseDate = receipt.originalPurchaseDate
        expiresDate = receipt.expiresDate
        cancellationDate = receipt.cancellationDate
        isCancelled = receipt.isCancelled
        quantity = receipt.quantity
        webOrderLineItemId = Self.usable(receipt.webOrderLineItemId)
        isTrialPeriod = receipt.isTrialPeriod
        isInIntroductoryOfferPeriod = receipt.isInIntroductoryOfferPeriod
    }

    init(_ payload: TransactionPayload) {
        originalTransactionId = Self.usable(payload.originalTransactionId)
        transactionId = Self.usable(payload.transactionId)
        productId = payload.productId
        kind = payload.type?.known.map(Self.kind)
        purchaseDate = payload.purchaseDate
        originalPurchaseDate = payload.originalPurchaseDate
        expiresDate = payload.expiresDate
        cancellationDate = payload.revocationDate
        isCancelled = payload.isRevoked
        quantity = payload.quantity
        webOrderLineItemId = Self.usable(payload.webOrderLineItemId)
        isTrialPeriod = payload.offerDiscountType.map { $0.known == .freeTrial }
        isInIntroductoryOfferPeriod = payload.offerType.map { $0.known == .introductory }
        promotionalOfferId = payload.offerType?.known == .promotional ? payload.offerIdentifier : nil
    }

    private static func usable(_ identifier: TransactionID?) -> TransactionID? { identifier == "0" ? nil : identifier }

    private static func kind(_ type: InAppProductType?, expires: AppleTimestamp?) -> Kind? {
        switch type {
        case .autoRenewableSubscription, .freeSubscription: .autoRenewableSubscription
        case .nonRenewingSubscription: .nonRenewingSubscription
        case .consumable: .consumable
        case .nonConsumable: .nonConsumable
        // Transaction and Xcode receipts have no type; that it runs out tells one kind.
        case nil: expires == nil ? nil : .autoRenewableSubscription
        }
    }

    private static func kind(_ type: TransactionPayload.ProductType) -> Kind {
        switch type {
        case .autoRenewableSubscription: .autoRenewableSubscription
        case .nonRenewingSubscription: .nonRenewingSubscription
        case .consumable: .consumable
        case .nonConsumable: .nonConsumable
        }
    }
}
