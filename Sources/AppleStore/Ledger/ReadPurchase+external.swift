public import RelayCore

extension ReadPurchase {
    /// Each subscription, pass and purchase for ever that it holds, with what it says of it. To be asked of a verified one only.
    public func externalSubscriptions(atMost limit: Int) -> [ExternalSubscription] {
        lasting.prefix(limit).compactMap { entry in
            guard let key = entry.originalTransactionId, !environment.name.isEmpty,
                let period = ledgerPeriod(of: entry)
            else { return nil }
            return ExternalSubscription(
                key: key, environment: environment.name, word: LedgerWord(periods: [period]), bundleID: bundleId)
        }
    }

    private var lasting: [PurchaseEntry] {
        switch document {
        case .appReceipt(let signed):
            PurchaseChoice(signed.receipt.inAppPurchases.lazy.map { PurchaseEntry($0) }, transactionId: "").lasting
        case .transactionReceipt, .signedTransaction: [entry].filter(\.isLasting)
        }
    }
}
