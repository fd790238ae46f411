import RelayCore

extension PurchaseAcceptor {
    /// Reads and verifies a purchase's proof, as far as the policy trusts it.
    ///
    /// - Throws: ``Problem`` 422 if the policy refuses it.
    func judge(_ request: PurchaseRequest, of key: APIKey) async throws -> ReadReceipt {
        var receipt: ReadReceipt
        switch request.proof {
        case .apple(let sent):
            receipt = ReadReceipt(sent.receiptData, transactionID: sent.transactionID)
            receipt.verification = await receipts.judge(receipt, app: key.app)
        case .store(let sent):
            let answer = receipts.isOn ? await stores.ask(sent.query, of: key.publisher) : nil
            receipt = ReadReceipt(sent, answer, of: key)
        }
        metrics.count(receipt.verification)
        try receipts.check(receipt)
        // The catalogue is needed to decide which subscription the purchase belongs to.
        try await store.offers.ready()
        if !receipts.trusts(receipt.verification) {
            receipt.distrust()
        } else if try await isOutside(receipt, request, key) {
            // Only the app gives this name, so the purchase moves, overtakes and delays no other customer's.
            receipt.standAlone()
            receipt.environment = .unknown
        } else {
            let platform = receipt.platform
            receipt.choose {
                fits(offers.name(of: $0.productID, plan: $0.planID, at: platform, of: key.publisher), request, key)
            }
        }
        return receipt
    }

    /// Whether the purchase belongs to none of the receipt's subscriptions.
    private func isOutside(_ receipt: ReadReceipt, _ request: PurchaseRequest, _ key: APIKey) async throws -> Bool {
        if receipt.isEmpty { return true }
        guard !receipt.isNamed, receipt.isReadable else { return false }
        return try await !isOfReceipt(request, receipt, key)
    }

    /// Whether the catalogue sells a product under the posted offer.
    private func fits(_ product: ProductID, _ request: PurchaseRequest, _ key: APIKey) -> Bool {
        offers.allows(product, under: request.offerID, of: key.publisher) == true
    }

    /// Whether a purchase that the receipt does not name belongs to the receipt's longest-running subscription. It does
    /// only if that subscription matches the posted offer.
    private func isOfReceipt(_ request: PurchaseRequest, _ receipt: ReadReceipt, _ key: APIKey) async throws -> Bool {
        if let product = receipt.productID, fits(ProductID(receipt.platform.prefixed(product)), request, key) {
            return true
        }
        switch try await store.subscriptions.holding(of: receipt.name(of: key.publisher), offer: request.offerID) {
        case .offer: return true
        // If it belonged to this subscription, its refund would end another offer's or customer's purchase.
        case .others: return false
        case .nothing: return !offers.hasProducts(of: key.publisher)
        }
    }
}
