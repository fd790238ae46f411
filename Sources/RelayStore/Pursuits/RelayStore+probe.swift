import Postgres
import RelayCore

extension RelayStore {
    /// The two statements without which no purchase moves. The names are what `/readyz` says is missing.
    public enum Probe: String, Sendable, CaseIterable {
        case accept, claim
    }

    /// Runs one as it is run for purchases, with none: the server looks at tables, columns and rights, and writes nothing.
    ///
    /// - Throws: ``PostgresError``.
    public func run(_ probe: Probe) async throws {
        switch probe {
        case .accept:
            _ = try await pool.query(AcceptStatement.query([], timeout: .seconds(1)), timeout: Self.probeTimeout)
        case .claim: _ = try await claimDue([:], lease: .seconds(1))
        }
    }

    private static let probeTimeout = Duration.seconds(5)
}
