import RelayCore

/// Stored form of ``Acceptance/takes``: ids by environment, as JSON.
enum TakenNames {
    static func text(_ names: [SubscriptionName]) -> String? {
        guard !names.isEmpty else { return nil }
        let ids = Dictionary(grouping: names, by: \.environment.text)
            .mapValues { $0.map(\.originalTransactionID.text).sorted() }
        return LedgerJSON.text(ids)
    }

    static func names(_ text: String?, of publisher: PublisherID) throws -> [SubscriptionName] {
        guard let text else { return [] }
        return try LedgerJSON.value([String: [String]].self, text, column: "validations.takes")
            .sorted { $0.key < $1.key }
            .flatMap { environment, ids in
                ids.map {
                    SubscriptionName(
                        publisher: publisher, environment: StoreEnvironment(environment),
                        originalTransactionID: TransactionID($0))
                }
            }
    }
}
