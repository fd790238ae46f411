import RelayCore
import Testing

@testable import Relay

extension RelayStore {
    static let lease = Duration.seconds(600)

    /// Claims the only due pursuit.
    func claimOne(of scope: PublisherScope = .common) async throws -> ClaimedPursuit {
        let claimed = try await purchases.claimDue(of: scope)
        try #require(claimed.count == 1)
        return claimed[0]
    }

    /// Accepts a purchase and claims its pursuit, which must be the only due one.
    func takeAndClaim(
        _ acceptance: Acceptance, of scope: PublisherScope = .common
    ) async throws -> ClaimedPursuit {
        try await take(acceptance)
        let claimed = try await claimOne(of: scope)
        try #require(claimed.id == acceptance.id)
        return claimed
    }

    /// Accepts a purchase and grants it.
    @discardableResult
    func takeAndGrant(_ acceptance: Acceptance) async throws -> ValidationID {
        try await write(try await takeAndClaim(acceptance).granted())
        return acceptance.id
    }

    /// Writes a change, and fails if the store does not accept it.
    func write(_ write: PursuitWrite) async throws {
        let outcome = try await PursuitWriter(store: self).write(write)
        try #require(outcome.isWritten)
    }

    func outcome(of write: PursuitWrite) async throws -> PursuitWriteOutcome {
        try await PursuitWriter(store: self).write(write)
    }

    /// Status as an app reads it.
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
