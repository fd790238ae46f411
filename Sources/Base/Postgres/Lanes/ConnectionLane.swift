import Logging

/// Behavior that both lanes share: connections in numbered slots, each of which comes up, completes flights, and goes
/// down.
///
/// All events enter through a few methods, and each of these ends with ``settle()``.
protocol ConnectionLane: Actor {
    nonisolated var settings: LaneSettings { get }
    var members: [Int: Connection] { get set }
    /// Slot of each flight that sets up a fresh session.
    var setUps: [UInt64: Int] { get set }
    var deadlines: Deadlines { get set }
    var lastConnectError: PostgresError? { get set }
    var knownSlots: Set<Int> { get set }
    var isClosed: Bool { get set }

    /// Called when the slot's connection is ready for use.
    func cameUp(_ slot: Int)
    func landed(_ flight: Flight.Landed, _ slot: Int)
    /// Called when the slot's connection is gone; `unanswered` was in flight.
    func wentDown(_ slot: Int, unanswered: [UInt64], _ error: PostgresError)
    /// Ends every waiting call, because the pool was shut down.
    func failAll(_ error: PostgresError)
    /// Called when the deadline of a call or of a transaction has passed.
    func expired(_ id: UInt64, _ now: ContinuousClock.Instant)
    func checkStalls(_ now: ContinuousClock.Instant)
    /// Time of the next check for stalls, apart from deadlines.
    func nextStall() -> ContinuousClock.Instant?
    /// Assigns waiting work to free connections.
    func pump()
    func load() -> PostgresLoad
    var lastLoad: PostgresLoad { get set }
}

extension ConnectionLane {
    var readyCount: Int { members.values.reduce(0) { $0 + ($1.isReady ? 1 : 0) } }

    /// Uses a connection until it is lost or the lane is shut down.
    ///
    /// - Returns: how long it was up.
    func serve(_ raw: RawConnection, _ slot: Int) async -> Duration {
        guard let connection = Connection(raw, loop: settings.loop, logger: settings.logger) else {
            return .zero
        }
        let opened = connection.opened
        await withCheckedContinuation { continuation in
            connection.onEnd = continuation
            start(connection, slot)
            settle()
        }
        return opened.duration(to: .now)
    }

    private func start(_ connection: Connection, _ slot: Int) {
        if settings.configuration.preparesStatements {
            connection.plans = PlanAge(begin: connection.opened, bounds: settings.configuration.planAge)
        }
        members[slot] = connection
        settings.loop.register(connection.socket) { [weak self] events in
            self?.assumeIsolated { $0.socketReady(slot, events) }
        }
        let id = settings.nextID()
        setUps[id] = slot
        deadlines.set(id, .now + settings.configuration.connectTimeout)
        if isClosed {
            drop(slot, PostgresError(.closed, "the pool was shut down"))
        } else if let loss = connection.send(id, settings.setUp) {
            drop(slot, loss)
        }
    }

    func connectFailed(_ error: PostgresError) {
        lastConnectError = error
        settings.observer.disconnected(lane: settings.lane, error: error)
        settle()
    }

    private func socketReady(_ slot: Int, _ events: UInt32) {
        guard let connection = members[slot] else { return }
        let progress = connection.ready(events)
        for flight in progress.landed {
            // 42P05: the name belongs to another session's statement. A missing one (26000) is prepared again and
            // proves nothing.
            if case .failure(let error) = flight.outcome, error.sqlState == "42P05" {
                settings.hasMetForeignStatement = true
            }
            if setUps.removeValue(forKey: flight.id) != nil {
                finishSetUp(flight, slot)
            } else {
                landed(flight, slot)
            }
        }
        if let loss = progress.loss { drop(slot, loss) }
        settle()
    }

    private func finishSetUp(_ flight: Flight.Landed, _ slot: Int) {
        deadlines.remove(flight.id)
        switch flight.outcome {
        case .failure(let error): drop(slot, error)
        case .success:
            members[slot]?.isReady = true
            lastConnectError = nil
            settings.observer.connected(lane: settings.lane, isFirst: knownSlots.insert(slot).inserted)
            settings.logger.debug("connected to PostgreSQL", metadata: ["slot": "\(slot)"])
            cameUp(slot)
        }
    }

    /// Closes a connection. Does nothing if it is already gone.
    func drop(_ slot: Int, _ error: PostgresError) {
        guard let connection = members.removeValue(forKey: slot) else { return }
        let unanswered = connection.close()
        for id in unanswered where setUps.removeValue(forKey: id) != nil { deadlines.remove(id) }
        if !isClosed {
            lastConnectError = error
            settings.logger.warning(
                "lost a connection to PostgreSQL", metadata: ["slot": "\(slot)", "error": "\(error.debugDescription)"])
            settings.observer.disconnected(lane: settings.lane, error: error)
        }
        wentDown(slot, unanswered: unanswered, error)
    }

    private func alarmRang() {
        let now = ContinuousClock.now
        for id in deadlines.takeExpired(now) {
            if let slot = setUps.removeValue(forKey: id) {
                drop(slot, PostgresError(.connectFailed, "the server did not answer to a fresh connection"))
            } else {
                expired(id, now)
            }
        }
        checkStalls(now)
        settle()
    }

    func shutDown() {
        guard !isClosed else { return }
        isClosed = true
        let error = PostgresError(.closed, "the pool was shut down")
        for slot in Array(members.keys) { drop(slot, error) }
        failAll(error)
        settle()
    }

    /// Reports the end of a call that was made at `start`.
    func observe<Value>(_ start: ContinuousClock.Instant, _ result: Result<Value, any Error>) {
        var failure: PostgresError.Code?
        if case .failure(let error) = result { failure = (error as? PostgresError)?.code ?? .cancelled }
        settings.observer.queryFinished(lane: settings.lane, duration: start.duration(to: .now), failure: failure)
    }

    /// Must end every method through which events enter.
    func settle() {
        pump()
        let load = load()
        if load != lastLoad {
            lastLoad = load
            settings.observer.loadChanged(lane: settings.lane, load: load)
        }
        let next = [deadlines.earliest, nextStall()].compactMap { $0 }.min()
        settings.loop.setAlarm(for: ObjectIdentifier(self), at: next) { [weak self] in
            self?.assumeIsolated { $0.alarmRang() }
        }
    }
}

/// Chooses the connection for the next statement.
enum LeastLoaded {
    struct Candidate {
        var slot: Int
        /// Number of statements sent and not yet answered.
        var inFlight: Int
        /// Number of these whose caller gave up: the server may be stuck on one.
        var abandoned: Int
    }

    /// The one with the fewest in flight. One that may be stuck is chosen only if there is no other. Nil if all are
    /// full.
    static func choose(among candidates: some Sequence<Candidate>, depth: Int) -> Int? {
        candidates.lazy.filter { $0.inFlight < depth }
            .min { ($0.abandoned, $0.inFlight, $0.slot) < ($1.abandoned, $1.inFlight, $1.slot) }?.slot
    }
}

/// Pause before the next try to connect. It doubles after each failure and has jitter, so that many clients do not
/// reconnect together.
struct ReconnectPause {
    private let settings: PostgresConfiguration.Backoff
    private var failures = 0

    init(_ settings: PostgresConfiguration.Backoff) { self.settings = settings }

    /// - Parameter jitter: a number from 0 to 1; the pause is between half and all of the full one.
    mutating func next(jitter: Double = .random(in: 0...1)) -> Duration {
        let full = min(settings.max, settings.initial * (1 << min(failures, 16)))
        failures += 1
        return full * (0.5 + jitter / 2)
    }

    mutating func reset() { failures = 0 }
}
