import NIOConcurrencyHelpers

/// Single statements, each its own transaction, pipelined over a few connections.
///
/// A statement here is never cancelled on the server, because the cancel could hit another caller's statement. Its
/// caller stops waiting, and `statement_timeout` ends the statement.
actor SharedLane: ConnectionLane {
    struct Call {
        var statement: EncodedStatement
        let exchange: NIOLockedValueBox<Exchange>
        let continuation: CheckedContinuation<Void, any Error>
        let made: ContinuousClock.Instant
        let deadline: ContinuousClock.Instant
        /// Set while the call is in flight.
        var slot: Int?
        var isRepeated = false
    }

    /// State that caller and lane share during the call. Rows are passed here and not with the continuation:
    /// ThreadSanitizer recognizes a hand-over under this lock, but not by a continuation that is resumed before it is
    /// awaited.
    struct Exchange: Sendable {
        var isCancelled = false
        var rows: PostgresRows?
    }

    nonisolated let settings: LaneSettings
    var members: [Int: Connection] = [:]
    var setUps: [UInt64: Int] = [:]
    var deadlines = Deadlines()
    var lastConnectError: PostgresError?
    var knownSlots: Set<Int> = []
    var isClosed = false
    var lastLoad = PostgresLoad(connected: 0, inFlight: 0, waiting: 0)

    var calls: [UInt64: Call] = [:]
    var waiting = WaitQueue()
    /// Flights whose caller no longer waits.
    var abandoned: Set<UInt64> = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { settings.loop.asUnownedSerialExecutor() }

    init(settings: LaneSettings) { self.settings = settings }

    /// Not isolated, so that the task does not switch to the event thread for a call and its answer.
    nonisolated func query(_ statement: EncodedStatement, timeout: Duration) async throws -> PostgresRows {
        let id = settings.nextID()
        let made = ContinuousClock.now
        let exchange = NIOLockedValueBox(Exchange())
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let call = Call(
                    statement: statement, exchange: exchange, continuation: continuation, made: made,
                    deadline: made + timeout)
                settings.loop.execute { self.assumeIsolated { $0.take(id, call) } }
            }
        } onCancel: {
            // A cancellation may arrive before its call.
            exchange.withLockedValue { $0.isCancelled = true }
            settings.loop.execute { self.assumeIsolated { $0.cancel(id) } }
        }
        guard let rows = exchange.withLockedValue({ $0.rows }) else {
            throw PostgresError(.connectionLost, "an answer without a result")
        }
        return rows
    }

    private func take(_ id: UInt64, _ call: Call) {
        calls[id] = call
        if call.exchange.withLockedValue({ $0.isCancelled }) {
            finish(id, .failure(CancellationError()))
        } else if isClosed {
            finish(id, .failure(PostgresError(.closed, "the pool was shut down")))
        } else if waiting.count >= settings.configuration.maxWaiting {
            finish(id, .failure(PostgresError(.overloaded, "too many calls wait for a connection")))
        } else if let lastConnectError, lastConnectError.code == .invalidConfiguration {
            finish(id, .failure(lastConnectError))
        } else {
            waiting.append(id)
            setDeadline(id, call, isUp: readyCount > 0)
        }
        settle()
    }

    private func cancel(_ id: UInt64) {
        guard calls[id] != nil else { return }
        letGo(id)
        finish(id, .failure(CancellationError()))
        settle()
    }

    func failAll(_ error: PostgresError) {
        for id in Array(calls.keys) { finish(id, .failure(error)) }
    }
}
