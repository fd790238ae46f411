import NIOCore
import RelayCore
import RelayStore

/// Waits for a validation to change, and judges deadlines by reading anew: only the database says that one is over.
struct PollHolder: Sendable {
    let store: RelayStore
    let maximumHeld: Int

    /// Above the bound a poll is answered at once, as a plain one.
    var hasRoom: Bool { store.changes.waiterCount < maximumHeld }

    enum Ending: Sendable {
        /// It is not as it was.
        case changed(Validation)
        /// It is still as it was; this is how it was read last.
        case unchanged(Validation)
        /// The process is going.
        case shutdown(Validation)
    }

    /// - Parameter held: registered before `known` was read.
    /// - Throws: ``ClientGone``; ``Postgres/PostgresError``; ``Problem`` where the validation is no longer kept.
    func wait(
        _ held: HeldPoll, known: Validation, until end: ContinuousClock.Instant
    ) async throws -> Ending {
        let tag = EntityTag.of(known)
        var latest = known
        while true {
            let now = ContinuousClock.now
            guard now < end else { return .unchanged(latest) }
            switch await held.waiter.wait(until: min(end, deadline(of: latest, now: now))) {
            case .cancelled: throw ClientGone()
            case .shutdown:
                return .shutdown(try await read(latest))
            case .changed(let validation) where validation.status != .pending:
                latest = validation
            case .changed, .timeout:
                latest = try await read(latest)
            }
            if EntityTag.of(latest) != tag { return .changed(latest) }
        }
    }

    /// When a pending one should be read again. The clock is an estimate of the database's: where it is early, the next look
    /// comes a moment later.
    private func deadline(of validation: Validation, now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        guard validation.status == .pending else { return now + .seconds(3_600) }
        guard let moment = store.clock.now else { return now + .milliseconds(250) }
        return now + max(validation.deadline - moment, .milliseconds(5))
    }

    private func read(_ validation: Validation) async throws -> Validation {
        guard let validation = try await store.validation(validation.id) else {
            throw Problem(.unknownValidation, "nothing is known by this id")
        }
        return validation
    }
}
