import Postgres
import Relay
import RelayCore

extension StoredFeature {
    /// Checks, orders and contracts.
    static let billing = StoredFeature(
        participant: ContractParticipant(), tables: .billing,
        publishers: { key, isThere in
            """
            SELECT c.publisher, c.added_at FROM contract_subscriptions c
            WHERE c.subscription_key = \(key) AND c.\(isThere)
            """
        })
}

/// Contracts in the transaction of a ledger's change: their events, and their continuation under a new id.
private struct ContractParticipant: LedgerParticipant {
    func look(for names: [SubscriptionName]) -> SQL { ContractStatements.look(for: names) }

    func read(_ rows: PostgresRows, of names: [SubscriptionName]) throws -> LedgerPart {
        var contracts: [SubscriptionName: NotifiedContract] = [:]
        var troubles: [SubscriptionName: StoreError] = [:]
        try ContractStatements.read(rows) { index, contract in
            do throws(StoreError) { contracts[names[index]] = try contract.get() } catch {
                troubles[names[index]] = error
            }
        }
        return LedgerPart(troubles: troubles) { [contracts] batch in
            guard !contracts.isEmpty else { return LedgerAddition() }
            return LedgerAddition(
                queries: batch.contractMoves(of: Set(contracts.keys)).map(ContractStatements.move),
                messages: batch.all.flatMap { one in
                    contracts[one.message.name].map { ContractStatements.deliveries(one, to: $0) } ?? []
                })
        }
    }
}
