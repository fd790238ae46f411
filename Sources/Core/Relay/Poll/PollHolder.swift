import HTTPServer
import NIOCore
import RelayCore

/// Waits for a validation to change. Only a new read of the database decides that a deadline has passed.
///
/// Functions that look into a validation are not inlined here. If they were, each waiting call would keep their
/// temporary memory.
struct PollHolder: Sendable {
    let store: RelayStore
    let keys: KeyRing
    let maximumHeld: Int

    /// Whether one more poll can be held. Otherwise a poll is answered at once, like a plain one.
    var hasCapacity: Bool { store.memory.changes.waiterCount < maximumHeld }

    /// All that a held poll stores about the state that its app knows.
    struct Known: Sendable {
        fileprivate let hash: UInt64
        /// Deadline of a pending validation.
        fileprivate let deadline: Timestamp?

        @inline(never)
        init(_ known: KnownValidation) {
            hash = EntityTag.hash(of: known.validation)
            deadline = known.validation.status == .pending ? known.validation.deadline : nil
        }
    }

    enum Ending: Sendable {
        /// The state differs from the known one.
        case changed(KnownValidation)
        case unchanged
        /// The process is shutting down; the value is the present state.
        case shutdown(KnownValidation)
        /// The key that asked has been revoked.
        case revoked
    }

    /// - Parameter held: registered before `known` was read.
    /// - Throws: ``ClientGone``; ``Postgres/PostgresError``; ``Problem`` if the validation is no longer stored.
    func wait(_ held: HeldPoll, known: Known, until end: ContinuousClock.Instant) async throws -> Ending {
        // It may have been revoked before the poll was registered.
        var isKeyInDoubt = true
        while true {
            if isKeyInDoubt, let key = held.waiter.key, await !keys.isStillValid(key) { return .revoked }
            let now = ContinuousClock.now
            guard now < end else { return .unchanged }
            let found: KnownValidation
            let step = await next(held, until: min(end, look(known, now: now)))
            isKeyInDoubt = held.waiter.takeDoubt()
            switch step {
            case .gone: throw ClientGone()
            case .shutdown: return .shutdown(try await read(held.waiter.id))
            case .became(let validation): found = validation
            case .look: found = try await read(held.waiter.id)
            case .checkKey: continue
            }
            if Known(found).hash != known.hash { return .changed(found) }
        }
    }

    private enum Step {
        case gone
        case shutdown
        case became(KnownValidation)
        case look
        case checkKey
    }

    /// Waits for the next step. Only a new read may answer that a validation is pending.
    private func next(_ held: HeldPoll, until moment: ContinuousClock.Instant) async -> Step {
        switch await held.waiter.wait(until: moment) {
        case .cancelled: .gone
        case .shutdown: .shutdown
        case .changed(let known) where known.validation.status != .pending: .became(known)
        case .keyInDoubt: .checkKey
        case .changed, .timeout: .look
        }
    }

    /// When a pending validation must be read again. The clock only estimates the database's: if the read comes too
    /// early, the next one follows a moment later.
    private func look(_ known: Known, now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        guard let deadline = known.deadline else { return now + .seconds(3_600) }
        guard let moment = store.memory.clock.now else { return now + .milliseconds(250) }
        return now + max(deadline - moment, .milliseconds(5))
    }

    @inline(never)
    private func read(_ id: ValidationID) async throws -> KnownValidation {
        guard let known = try await store.purchases.known(id) else {
            throw Problem(.unknownValidation, "nothing is known by this id")
        }
        return known
    }
}
