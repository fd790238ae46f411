import Logging
import NIOConcurrencyHelpers
import Postgres
import RelayFront
import RelayStore
import ServiceLifecycle

/// Whether this copy can do its work: the database answers, and has the schema that this version wants. Says so in the log
/// whenever that changes, and every few seconds while something is missing.
final class ReadinessWatch: Service {
    private enum State: Sendable, Equatable {
        case ready
        /// `what` in a fixed word, `why` in a sentence.
        case waiting(what: String, why: String)
    }

    private let store: RelayStore
    private let logger: Logger
    private let state = NIOLockedValueBox(State.waiting(what: "database", why: "it has not been reached yet"))
    /// When it was last looked for new keys.
    private let vaultSeenAt = NIOLockedValueBox(ContinuousClock.now)
    private let saidAt = NIOLockedValueBox<ContinuousClock.Instant?>(nil)

    init(store: RelayStore, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    var readiness: Readiness {
        if case .waiting(let what, _) = state.withLockedValue({ $0 }) {
            Readiness(missing: [what])
        } else {
            Readiness()
        }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                self.note(await self.look())
                try? await Task.sleep(for: self.readiness.isReady ? .seconds(1) : .milliseconds(250))
            }
        }
        note(.waiting(what: "process", why: "it is shutting down"))
    }

    private func note(_ now: State) {
        let before = state.withLockedValue { state in
            defer { state = now }
            return state
        }
        let isOld = saidAt.withLockedValue { $0.map { ContinuousClock.now - $0 > .seconds(5) } ?? true }
        guard now != before || (now != .ready && isOld) else { return }
        saidAt.withLockedValue { $0 = .now }
        switch now {
        case .ready: logger.notice("ready")
        case .waiting(let what, let why):
            logger.warning("not ready", metadata: ["missing": "\(what)", "reason": "\(why)"])
        }
    }

    /// New data keys are taken up. What cannot be opened any more was opened once: this copy works on, and the next start would not.
    private func lookForKeys() async {
        vaultSeenAt.withLockedValue { $0 = .now }
        do {
            try await store.openVault()
        } catch let error as VaultError {
            logger.warning("the next start of this copy will not be ready", metadata: ["reason": "\(error)"])
        } catch {
            // The database is away: the next look says so.
        }
    }

    private func look() async -> State {
        do {
            // Without the database's time no purchase can be dated: ready is who knows it.
            if store.clock.now == nil { try await store.readClock() }
            let missing = try await store.migrationStatus(toleratesNewer: true).filter { $0.appliedAt == nil }
            guard missing.isEmpty else {
                return .waiting(what: "schema", why: "it is not up to date: run `receipt-relay migrate up`")
            }
            if store.vault.needsLook {
                try await store.openVault()
            } else if vaultSeenAt.withLockedValue({ ContinuousClock.now - $0 > .seconds(30) }) {
                await lookForKeys()
            }
            return .ready
        } catch let error as VaultError {
            return .waiting(what: "encryption", why: "\(error)")
        } catch let error as MigrationError {
            return .waiting(what: "schema", why: "\(error)")
        } catch let error as PostgresError where error.isStrayStatement {
            return .waiting(what: "database", why: SettingError.poolerAdvice)
        } catch {
            return .waiting(what: "database", why: "it is away; it is tried again until it is back")
        }
    }
}
