import Relay
import RelayCore

extension RelayStore {
    static let timeout = Duration.seconds(60)

    func intake() -> Intake {
        Intake(store: self, validationTimeout: Self.timeout) {}
    }

    /// Accepts a purchase that must be new.
    @discardableResult
    func take(_ acceptance: Acceptance) async throws -> ValidationID {
        // The publisher exists before its keys, as in production.
        _ = try await publishers.add(acceptance.publisher)
        let outcome = try await intake().accept(acceptance)
        guard case .created = outcome else { throw NotNew(outcome: outcome) }
        return acceptance.id
    }

    func accept(_ acceptance: Acceptance) async throws -> AcceptOutcome {
        try await intake().accept(acceptance)
    }

    struct NotNew: Error {
        let outcome: AcceptOutcome
    }
}
