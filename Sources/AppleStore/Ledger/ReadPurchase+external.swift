public import RelayCore

extension ReadPurchase {
    /// Each subscription that it holds, with what it says of it. To be asked of a verified one only.
    public func externalSubscriptions(atMost limit: Int) -> [ExternalSubscription] {
        subscriptions.prefix(limit).compactMap { entry in
            let one = ReadPurchase(
                format: format, environment: environment, bundleId: bundleId, issuedDate: issuedDate, entry: entry,
                isNamed: true,
                subscriptions: [entry], document: document)
            guard let key = entry.originalTransactionId, !environment.name.isEmpty, let period = one.ledgerPeriod else {
                return nil
            }
            return ExternalSubscription(
                key: key, environment: environment.name, word: LedgerWord(periods: [period]), bundleID: bundleId)
        }
    }
}
