import CLibPQ
import Logging

/// One connection to the server, in libpq's pipeline mode. Belongs to a lane and is used on the event thread only.
///
/// A flight ends at its synchronization point. Until then, its results are stored with the flight at the head.
final class Connection {
    let socket: Int32
    let raw: OpaquePointer
    let loop: EventLoop
    let notices: NoticeSink
    let isEncrypted: Bool
    var cache = StatementCache()
    /// Names of prepared statements that are no longer needed.
    var outdated: [String] = []
    /// Nil if the session prepares no statements.
    var plans: PlanAge?
    var inFlight = FIFO<Flight>()
    var isInScript = false
    private var isWriting = false
    /// When the server last finished something, or first got work after being idle.
    var lastProgress = ContinuousClock.now
    /// Number of flights whose caller no longer waits.
    var abandoned = 0
    /// Set if the connection must be closed as soon as it is idle: the reason.
    var retirement: PostgresError?
    let opened = ContinuousClock.now
    /// Resumed when the connection has ended.
    var onEnd: CheckedContinuation<Void, Never>?
    /// True once the lane's session setup is done.
    var isReady = false

    /// Nil if the connection is already broken.
    init?(_ connection: RawConnection, loop: EventLoop, logger: Logger) {
        guard let raw = connection.take() else { return nil }
        guard PQstatus(raw) == CONNECTION_OK, PQsetnonblocking(raw, 1) == 0, PQenterPipelineMode(raw) == 1 else {
            PQfinish(raw)
            return nil
        }
        self.raw = raw
        self.loop = loop
        self.socket = PQsocket(raw)
        self.isEncrypted = PQsslInUse(raw) != 0 || PQgssEncInUse(raw) != 0
        self.notices = NoticeSink(logger: logger)
        notices.attach(to: raw)
    }

    /// Closes the connection and returns the unanswered flights. Must be the last call.
    func close() -> [UInt64] {
        loop.unregister(socket)
        PQfinish(raw)
        onEnd?.resume()
        onEnd = nil
        return inFlight.takeAll().map(\.id)
    }

    /// True if no explicit transaction is open.
    var isTransactionIdle: Bool { PQtransactionStatus(raw) == PQTRANS_IDLE }

    /// True if an open transaction has failed and accepts only ROLLBACK.
    var isTransactionFailed: Bool { PQtransactionStatus(raw) == PQTRANS_INERROR }

    func cancelRequest() -> CancelRequest? { PQgetCancel(raw).map(CancelRequest.init(taking:)) }

    /// Writes what the socket accepts; the rest follows when it is writable again. Reading continues meanwhile.
    func flush() -> PostgresError? {
        let state = PQflush(raw)
        guard state >= 0 else { return loss() }
        if (state == 1) != isWriting {
            isWriting = state == 1
            loop.setWriting(socket, isWriting)
        }
        return nil
    }

    func loss() -> PostgresError {
        let message = PQerrorMessage(raw).map { PostgresError.oneLine(String(cString: $0)) } ?? ""
        return PostgresError(.connectionLost, message.isEmpty ? "the connection was lost" : message)
    }
}

/// Logs the server's notices at debug level, and detects the one about synchronous replication.
final class NoticeSink {
    private let logger: Logger
    private var isUnconfirmed = false

    init(logger: Logger) { self.logger = logger }

    /// `raw` must be finished before the sink is released.
    func attach(to raw: OpaquePointer) {
        _ = PQsetNoticeReceiver(
            raw,
            { sink, result in
                guard let sink, let result else { return }
                Unmanaged<NoticeSink>.fromOpaque(sink).takeUnretainedValue().receive(result)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Whether the server stopped waiting for its synchronous standby since the last call. Cancelling a statement in
    /// that wait, as statement_timeout does, makes it succeed with a warning.
    func takeUnconfirmed() -> Bool {
        defer { isUnconfirmed = false }
        return isUnconfirmed
    }

    private func receive(_ result: OpaquePointer) {
        // PG_DIAG_SOURCE_FUNCTION: unlike the text, it is not translated.
        if let code = Character("R").asciiValue, let function = PQresultErrorField(result, Int32(code)),
            String(cString: function) == "SyncRepWaitForLSN"
        {
            isUnconfirmed = true
        }
        guard logger.logLevel <= .debug else { return }
        let error = PostgresError(result: result)
        logger.debug(
            "PostgreSQL notice", metadata: ["sqlState": "\(error.sqlState ?? "-")", "notice": "\(error.serverMessage)"])
    }
}

/// A request to the server to cancel the running statement of a connection. Usable from any thread.
final class CancelRequest: Sendable {
    // libpq allows the use of a PGcancel from any thread (libpq manual, "Canceling Queries in Progress"), and does not
    // change it.
    nonisolated(unsafe) private let raw: OpaquePointer

    init(taking raw: OpaquePointer) { self.raw = raw }

    deinit { PQfreeCancel(raw) }

    /// Opens a separate connection and waits until the server closes it: blocks.
    func send() {
        var message = [CChar](repeating: 0, count: 256)
        // The server does not say whether it cancelled anything. If it did not, the statement simply continues.
        _ = PQcancel(raw, &message, Int32(message.count))
    }
}
