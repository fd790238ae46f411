import RelayCore

extension InAppPurchase {
    /// Reads the value of attribute 17: a SET of attributes again.
    init(_ octets: BEROctets) throws(BERError) {
        let document = octets.document
        var cursor = try document.only(octets.root, BERTag.set).children
        var count = 0
        while let element = try document.next(&cursor) {
            count += 1
            guard count <= ReceiptLimits.purchaseAttributes else { throw .limitExceeded }
            if let attribute = try ReceiptAttribute(document, element) { read(attribute) }
        }
    }

    private mutating func read(_ attribute: ReceiptAttribute) {
        switch attribute.type {
        case 1701: quantity = quantity ?? attribute.integer
        case 1702: productId = productId ?? ProductID(attribute.text)
        case 1703: transactionId = transactionId ?? TransactionID(attribute.identifier)
        case 1704: purchaseDate = purchaseDate ?? attribute.date
        case 1705: originalTransactionId = originalTransactionId ?? TransactionID(attribute.identifier)
        case 1706: originalPurchaseDate = originalPurchaseDate ?? attribute.date
        case 1707: productType = productType ?? attribute.integer.map(OpenValue.init(raw:))
        case 1708: expiresDate = expiresDate ?? attribute.date
        case 1711: webOrderLineItemId = webOrderLineItemId ?? attribute.integer
        case 1712:
            cancellationDate = cancellationDate ?? attribute.date
            isCancelled = isCancelled || attribute.isPresent
        case 1713: isTrialPeriod = isTrialPeriod ?? attribute.integer.map { $0 != 0 }
        case 1719: isInIntroductoryOfferPeriod = isInIntroductoryOfferPeriod ?? attribute.integer.map { $0 != 0 }
        case 1721: promotionalOfferId = promotionalOfferId ?? attribute.text
        default: break
        }
    }
}
