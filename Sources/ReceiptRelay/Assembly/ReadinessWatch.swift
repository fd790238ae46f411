import Logging
import Metrics
import NIOConcurrencyHelpers
import Postgres
import Relay
import ServiceLifecycle

/// Whether this copy can work: the database answers, has the schema of this version, and runs the statements that
/// accept and claim purchases. Logs every change, and a reminder every few seconds while something is missing.
actor ReadinessWatch: Service {
    private enum State: Sendable, Equatable {
        case ready
        /// `what` is a list of fixed words; `why` is a sentence.
        case waiting(what: [String], why: String)

        var missing: [String] {
            if case .waiting(let what, _) = self { what } else { [] }
        }
    }

    private let store: RelayStore
    /// Statements that this copy's role needs.
    private let probes: [RelayStore.Probe]
    private let logger: Logger
    private nonisolated let isEnding = NIOLockedValueBox(false)
    private var state = State.waiting(what: ["database"], why: "it has not been reached yet")
    /// Time of the last search for new data keys.
    private var vaultSeenAt = ContinuousClock.now
    private var saidAt: ContinuousClock.Instant?
    /// The question to the database that a call of `/readyz` waits for, or the last one.
    private var question: (asked: ContinuousClock.Instant, answers: Task<Bool, Never>)?
    private let drift = Gauge(label: "relay_host_clock_drift_seconds")
    private var isDrifting = false

    init(store: RelayStore, probes: [RelayStore.Probe], logger: Logger) {
        self.store = store
        self.probes = probes
        self.logger = logger
    }

    /// State for `/readyz`. A look takes longer, and comes every few seconds, so while all is well the database is asked
    /// whether it answers.
    var readiness: Readiness {
        get async {
            if isEnding.withLockedValue({ $0 }) { return Readiness(missing: ["process"]) }
            if state == .ready, await !answers(), state == .ready {
                note(.waiting(what: ["database"], why: "it does not answer; it is tried again until it does"))
            }
            return Readiness(missing: state.missing)
        }
    }

    /// Whether the database answers in time. All calls of one second share a question.
    private func answers() async -> Bool {
        if let question, ContinuousClock.now - question.asked < .seconds(1) { return await question.answers.value }
        let task = Task { [store] in await Self.answers(store) }
        question = (.now, task)
        return await task.value
    }

    private static let patience = Duration.milliseconds(1_500)

    private static func answers(_ store: RelayStore) async -> Bool {
        await withCheckedContinuation { continuation in
            let waiting = NIOLockedValueBox<CheckedContinuation<Bool, Never>?>(continuation)
            @Sendable func end(_ answer: Bool) {
                waiting.withLockedValue { waiting in
                    defer { waiting = nil }
                    return waiting
                }?.resume(returning: answer)
            }
            Task { end((try? await store.readClock()) != nil) }
            Task {
                try? await Task.sleep(for: patience)
                end(false)
            }
        }
    }

    /// Reports from now on that this process ends. The ops front answers for as long as the app front drains.
    nonisolated func end() { isEnding.withLockedValue { $0 = true } }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.lookAndNote()
                let next = ContinuousClock.now + .seconds(5)
                repeat {
                    try? await Task.sleep(for: .milliseconds(250))
                } while await self.state == .ready && ContinuousClock.now < next && !Task.isCancelled
            }
        }
        note(.waiting(what: ["process"], why: "it is shutting down"))
    }

    private func lookAndNote() async {
        note(await look())
        noteDrift()
    }

    /// Records the drift of the host's clock. The relay's decisions do not depend on that clock, but it dates tokens
    /// for stores, which refuse one that is minutes off.
    private func noteDrift() {
        guard let seconds = store.memory.clock.hostDrift.map({ $0 / .seconds(1) }) else { return }
        drift.record(seconds)
        let isFar = abs(seconds) > 30
        guard isFar != isDrifting else { return }
        isDrifting = isFar
        if isFar {
            logger.warning(
                "this host's clock is not the database's: stores may refuse what is signed here; set it by NTP",
                metadata: ["ahead_seconds": "\(Int(clamping: Int64(seconds)))"])
        } else {
            logger.notice("this host's clock is the database's again")
        }
    }

    private func note(_ now: State) {
        let before = state
        state = now
        let isOld = saidAt.map { ContinuousClock.now - $0 > .seconds(5) } ?? true
        // The reasons are not compared: with several hosts, each check may give another text.
        guard now.missing != before.missing || (now != .ready && isOld) else { return }
        saidAt = .now
        switch now {
        case .ready: logger.notice("ready")
        case .waiting(let what, let why):
            logger.warning("not ready", metadata: ["missing": "\(what.joined(separator: ", "))", "reason": "\(why)"])
        }
    }

    /// Loads new data keys. If one can no longer be opened, this copy continues with the keys it has; its next start
    /// would fail.
    private func lookForKeys() async {
        vaultSeenAt = .now
        do {
            try await store.encryption.openVault()
        } catch let error as VaultError {
            logger.warning("the next start of this copy will not be ready", metadata: ["reason": "\(error)"])
        } catch let error as PostgresError where error.isRefusal {
            logger.warning("new data keys cannot be read", metadata: ["error": "\(error)"])
        } catch {
            // The database does not answer. The next check reports that.
        }
    }

    /// Runs the statements without data. A migration that renames a column, or a revoked privilege, is found here
    /// instead of by the first customer.
    private func probe() async throws -> State {
        var refused: [(probe: RelayStore.Probe, why: String)] = []
        for probe in probes {
            do {
                try await store.run(probe)
            } catch let error as PostgresError where error.isRefusal {
                refused.append((probe, "\(error)"))
            }
        }
        guard !refused.isEmpty else { return .ready }
        return .waiting(
            what: refused.map(\.probe.rawValue),
            why: refused.map { "the database refuses to \($0.probe.rawValue) purchases: \($0.why)" }
                .joined(separator: "; "))
    }

    private func look() async -> State {
        guard !store.hasMetForeignStatement else {
            return .waiting(what: ["database"], why: SettingError.poolerAdvice)
        }
        do {
            // Purchases cannot be dated without the database's time, so a copy that does not know it is not ready.
            if store.memory.clock.now == nil { try await store.readClock() }
            let missing = try await store.schema.status(toleratesNewer: true).filter { $0.appliedAt == nil }
            guard missing.isEmpty else {
                return .waiting(what: ["schema"], why: "it is not up to date: run `receipt-relay migrate up`")
            }
            let gone = try await store.schema.missingTables()
            guard gone.isEmpty else { return .waiting(what: ["schema"], why: "\(DamagedSchema(gone))") }
            if store.memory.vault.needsLook {
                try await store.encryption.openVault()
            } else if ContinuousClock.now - vaultSeenAt > .seconds(30) {
                await lookForKeys()
            }
            return try await probe()
        } catch  where Task.isCancelled {
            return .waiting(what: ["process"], why: "it is shutting down")
        } catch let error as VaultError {
            return .waiting(what: ["encryption"], why: "\(error)")
        } catch let error as MigrationError {
            return .waiting(what: ["schema"], why: "\(error)")
        } catch let error as PostgresError where error.isStrayStatement {
            return .waiting(what: ["database"], why: SettingError.poolerAdvice)
        } catch let error as PostgresError where error.isRefusal {
            return .waiting(what: ["database"], why: "it refuses a statement: \(error)")
        } catch let error as PostgresError {
            return .waiting(
                what: ["database"], why: "it is away; it is tried again until it is back: \(error.debugDescription)")
        } catch {
            return .waiting(what: ["database"], why: "it is away; it is tried again until it is back")
        }
    }
}
