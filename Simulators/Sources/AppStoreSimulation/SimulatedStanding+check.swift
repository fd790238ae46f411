/// What cannot be.
extension SimulatedStanding {
    func check() throws(JSONFault) {
        try Self.demand(status.map { (1...5).contains($0) }, "status is 1 to 5")
        try Self.demand(
            environment.map { ["Production", "Sandbox"].contains($0) }, "environment is Production or Sandbox")
        try Self.demand(autoRenewStatus.map { (0...1).contains($0) }, "autoRenewStatus is 0 or 1")
        try Self.demand(revocationReason.map { (0...1).contains($0) }, "revocationReason is 0 or 1")
        try Self.demand(priceIncreaseStatus.map { (0...1).contains($0) }, "priceIncreaseStatus is 0 or 1")
        try Self.demand(expirationIntent.map { (1...5).contains($0) }, "expirationIntent is 1 to 5")
        try Self.demand(purchaseDate.map { $0 <= expiresDate }, "purchaseDate is not after expiresDate")
        try Self.demand(transactionIds.map { $0.count <= 100 }, "transactionIds are 100 at most")
        for number in [transactionId, previousOriginalTransactionId, webOrderLineItemId] + (transactionIds ?? []) {
            try Self.demand(number.map(Self.isNumber), "a transaction id has 1 to 32 digits")
        }
        let texts = [
            productId, bundleId, autoRenewProductId, revocationType, inAppOwnershipType, transactionReason, storefront,
            appAccountToken, subscriptionGroupIdentifier,
        ]
        for text in texts {
            try Self.demand(text.map { (1...255).contains($0.utf8.count) }, "a text has 1 to 255 bytes")
        }
    }

    /// Whether it can be the number of a transaction.
    public static func isNumber(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// - Parameter isGood: nil where nothing was said.
    private static func demand(_ isGood: Bool?, _ message: String) throws(JSONFault) {
        guard isGood ?? true else { throw JSONFault(message) }
    }
}
