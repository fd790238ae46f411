import RelayCore

extension AppReceipt {
    /// Reads the payload of a receipt: a SET of attributes, in any order. What decides whose receipt it is, and when it was made, stands in it
    /// once: of two the reader here might take one and another reader the other.
    init(_ payload: BEROctets) throws(BERError) {
        let document = payload.document
        var cursor = try document.only(payload.root, BERTag.set).children
        var count = 0
        var deciding: Set<Int64> = []
        while let element = try document.next(&cursor) {
            count += 1
            guard count <= ReceiptLimits.receiptAttributes else { throw .limitExceeded }
            guard let attribute = try ReceiptAttribute(document, element) else { continue }
            if [0, 1, 2, 12].contains(attribute.type), !deciding.insert(attribute.type).inserted {
                throw .unexpectedElement
            }
            try read(attribute)
        }
    }

    private mutating func read(_ attribute: ReceiptAttribute) throws(BERError) {
        switch attribute.type {
        case 0: if environment == .unnamed { environment = AppleEnvironment(raw: attribute.text ?? "") }
        case 1: appId = appId ?? attribute.integer
        case 2 where bundleId == nil:
            bundleId = BundleID(attribute.text)
            bundleIdOctets = bundleId == nil ? nil : attribute.octets.bytes
        case 3: applicationVersion = applicationVersion ?? attribute.text
        case 4: opaqueValue = opaqueValue ?? attribute.octets.bytes
        case 5: deviceHash = deviceHash ?? attribute.octets.bytes
        case 10: ageRating = ageRating ?? attribute.text
        case 12: creationDate = creationDate ?? attribute.date
        case 15: downloadId = downloadId ?? attribute.integer
        case 16: versionExternalIdentifier = versionExternalIdentifier ?? attribute.integer
        case 17:
            guard inAppPurchases.count < ReceiptLimits.inAppPurchases else { throw .limitExceeded }
            inAppPurchases.append(try InAppPurchase(attribute.octets))
        case 18: originalPurchaseDate = originalPurchaseDate ?? attribute.date
        case 19: originalApplicationVersion = originalApplicationVersion ?? attribute.text
        case 21: expirationDate = expirationDate ?? attribute.date
        default: break
        }
    }
}
