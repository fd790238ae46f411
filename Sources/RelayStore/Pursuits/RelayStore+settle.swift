import Postgres
import RelayCore

extension RelayStore {
    /// Writes changes of status, with everything that follows from them, in one transaction: the validation, its pursuit, its
    /// timeline, the purchase it stands for, the subscription's owner, the old owner's end, and word to both publishers'
    /// customers.
    func settle(_ writes: [PursuitWrite]) async throws -> [PursuitWriteOutcome] {
        let result = try await retryingDeadlock {
            try await pool.withTransaction { transaction in
                let settlement = Settlement(transaction: transaction, instance: instance)
                return try await settlement.run(writes)
            }
        }
        publish(result.changed, customers: result.customers)
        return result.outcomes
    }
}
