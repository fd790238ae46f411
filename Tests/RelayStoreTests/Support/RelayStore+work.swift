import RelayCore
import Testing

@testable import RelayStore

extension RelayStore {
    static let lease = Duration.seconds(600)

    /// The one pursuit that is due.
    func claimOne(of scope: PublisherScope = .common) async throws -> ClaimedPursuit {
        let claimed = try await purchases.claimDue(of: scope)
        try #require(claimed.count == 1)
        return claimed[0]
    }

    /// Takes a purchase in and claims it: the only one due.
    func takeAndClaim(
        _ acceptance: Acceptance, of scope: PublisherScope = .common
    ) async throws -> ClaimedPursuit {
        try await take(acceptance)
        let claimed = try await claimOne(of: scope)
        try #require(claimed.id == acceptance.id)
        return claimed
    }

    /// Takes a purchase in and sees it granted.
    @discardableResult
    func takeAndGrant(_ acceptance: Acceptance) async throws -> ValidationID {
        try await write(try await takeAndClaim(acceptance).granted())
        return acceptance.id
    }

    /// Writes what must be written.
    func write(_ write: PursuitWrite) async throws {
        let outcome = try await PursuitWriter(store: self).write(write)
        try #require(outcome.isWritten)
    }

    func outcome(of write: PursuitWrite) async throws -> PursuitWriteOutcome {
        try await PursuitWriter(store: self).write(write)
    }

    /// As it is told.
    func status(of id: ValidationID) async throws -> ValidationStatus? {
        try await purchases.validation(id)?.status
    }
}

extension StoredPurchase {
    var receipt: Acceptance.Receipt? {
        if case .receipt(let receipt) = proof { receipt } else { nil }
    }
}

extension PurchaseStore {
    func claimDue(
        of scope: PublisherScope = .common, limit: Int = 100, lease: Duration = RelayStore.lease
    ) async throws -> [ClaimedPursuit] {
        let phases = Pursuit.Phase.unsent + Pursuit.Phase.taken
        return try await claimDue(Dictionary(uniqueKeysWithValues: phases.map { ($0, limit) }), of: scope, lease: lease)
    }
}

extension PurchaseStore {
    /// With ledgers that are due at once.
    func settle(_ writes: [PursuitWrite]) async throws -> [PursuitWriteOutcome] {
        try await settle(writes, listener: nil).outcomes
    }
}
