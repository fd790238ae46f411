import NIOCore
import RelayCore
import RelayStore

/// Waits for a validation to change, and judges deadlines by reading anew: only the database says that one is over.
///
/// What looks into a validation is never inlined here: the memory that it needs for a moment would be part of what each
/// waiting call keeps.
struct PollHolder: Sendable {
    let store: RelayStore
    let maximumHeld: Int

    /// Above the bound a poll is answered at once, as a plain one.
    var hasRoom: Bool { store.changes.waiterCount < maximumHeld }

    enum Ending: Sendable {
        /// It is not as it was.
        case changed(KnownValidation)
        /// It is still as it was; this is how it was read last.
        case unchanged(KnownValidation)
        /// The process is going.
        case shutdown(KnownValidation)
    }

    /// - Parameter held: registered before `known` was read.
    /// - Throws: ``ClientGone``; ``Postgres/PostgresError``; ``Problem`` where the validation is no longer kept.
    func wait(
        _ held: HeldPoll, known: KnownValidation, until end: ContinuousClock.Instant
    ) async throws -> Ending {
        var latest = known
        while true {
            let now = ContinuousClock.now
            guard now < end else { return .unchanged(latest) }
            switch await next(held, until: min(end, deadline(of: latest, now: now))) {
            case .gone: throw ClientGone()
            case .shutdown: return .shutdown(try await read(latest))
            case .became(let validation): latest = validation
            case .look: latest = try await read(latest)
            }
            if differ(latest, known) { return .changed(latest) }
        }
    }

    private enum Step {
        case gone
        case shutdown
        case became(KnownValidation)
        case look
    }

    /// Only a reading of now says that something is pending.
    private func next(_ held: HeldPoll, until moment: ContinuousClock.Instant) async -> Step {
        switch await held.waiter.wait(until: moment) {
        case .cancelled: .gone
        case .shutdown: .shutdown
        case .changed(let known) where known.validation.status != .pending: .became(known)
        case .changed, .timeout: .look
        }
    }

    /// When a pending one should be read again. The clock is an estimate of the database's: where it is early, the next look
    /// comes a moment later.
    @inline(never)
    private func deadline(of known: KnownValidation, now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        guard known.validation.status == .pending else { return now + .seconds(3_600) }
        guard let moment = store.clock.now else { return now + .milliseconds(250) }
        return now + max(known.validation.deadline - moment, .milliseconds(5))
    }

    @inline(never)
    private func differ(_ left: KnownValidation, _ right: KnownValidation) -> Bool {
        EntityTag.of(left.validation) != EntityTag.of(right.validation)
    }

    @inline(never)
    private func read(_ known: KnownValidation) async throws -> KnownValidation {
        guard let validation = try await store.validation(known.validation.id) else {
            throw Problem(.unknownValidation, "nothing is known by this id")
        }
        return KnownValidation(validation)
    }
}
