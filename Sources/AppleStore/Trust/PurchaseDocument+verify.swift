extension PurchaseDocument {
    /// Whether it is genuine and ours.
    ///
    /// - Returns: false where it cannot be judged: the transaction receipts of iOS 6 are signed in a way of their own.
    /// - Throws: ``NotGenuine``.
    public func verify(_ trust: ChainOfTrust, _ scope: StoreScope) async throws(NotGenuine) -> Bool {
        switch self {
        case .transactionReceipt: return false
        case .appReceipt(let signed):
            try scope.check(
                try await signed.verify(trust), environment: signed.receipt.environment,
                bundleId: signed.receipt.bundleId, appId: signed.receipt.appId)
        case .signedTransaction(let signed): try await signed.verify(trust, scope)
        }
        return true
    }
}

extension SignedTransaction {
    /// - Throws: ``NotGenuine``.
    func verify(_ trust: ChainOfTrust, _ scope: StoreScope) async throws(NotGenuine) {
        try scope.check(
            try await jws.verify(trust, signedDate: payload.signedDate), environment: payload.environment,
            bundleId: payload.bundleId, appId: nil)
    }
}
