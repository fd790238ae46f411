import CLibPQ
import Logging

/// One connection to the server, in libpq's pipeline mode. Belongs to a lane and is used on the event thread only.
///
/// A flight is over at its synchronisation point. What the server says in between is kept with the flight at the head.
final class Connection {
    let socket: Int32
    let raw: OpaquePointer
    let loop: EventLoop
    let notices: NoticeSink
    let isEncrypted: Bool
    var cache = StatementCache()
    /// Names of prepared statements that nobody needs any more.
    var outdated: [String] = []
    /// Nil where nothing is prepared.
    var plans: PlanAge?
    var inFlight = FIFO<Flight>()
    var isInScript = false
    private var isWriting = false
    /// When the server last finished something, or was last given something to do after it had nothing to do.
    var lastProgress = ContinuousClock.now
    /// Flights whose caller has gone.
    var abandoned = 0
    /// Set where the connection is to be given up as soon as it is idle: why.
    var retirement: PostgresError?
    let opened = ContinuousClock.now
    /// Resumed when the connection is over.
    var onEnd: CheckedContinuation<Void, Never>?
    /// True once the session is set up as the lane wants it.
    var isReady = false

    /// Nil where the connection broke already.
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

    /// Closes it and gives back what was not answered. To be called once, and nothing after it.
    func close() -> [UInt64] {
        loop.unregister(socket)
        PQfinish(raw)
        onEnd?.resume()
        onEnd = nil
        return inFlight.takeAll().map(\.id)
    }

    /// True where no explicit transaction is open.
    var isTransactionIdle: Bool { PQtransactionStatus(raw) == PQTRANS_IDLE }

    /// True where one is open, and only ROLLBACK is left to it.
    var isTransactionFailed: Bool { PQtransactionStatus(raw) == PQTRANS_INERROR }

    func cancelRequest() -> CancelRequest? { PQgetCancel(raw).map(CancelRequest.init(taking:)) }

    /// Writes what the socket takes; the rest goes when it can be written again. Reading continues meanwhile.
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

/// Where the server's notices go: the log, at level debug. One of them is more than a notice.
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

    /// Whether the server has said, since this was last asked, that it stopped waiting for its synchronous standby: who
    /// cancels a statement in that wait (statement_timeout does) makes it succeed, with a warning.
    func takeUnconfirmed() -> Bool {
        defer { isUnconfirmed = false }
        return isUnconfirmed
    }

    private func receive(_ result: OpaquePointer) {
        // PG_DIAG_SOURCE_FUNCTION: unlike the text it is in no language.
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

/// What it takes to ask the server to cancel the statement that a connection is running. Usable from any thread.
final class CancelRequest: Sendable {
    // A PGcancel is made to be used from any thread (libpq manual, "Canceling Queries in Progress"), and is not changed by it.
    nonisolated(unsafe) private let raw: OpaquePointer

    init(taking raw: OpaquePointer) { self.raw = raw }

    deinit { PQfreeCancel(raw) }

    /// Opens a connection of its own and waits for the server to close it: blocks.
    func send() {
        var message = [CChar](repeating: 0, count: 256)
        // The server does not say whether anything was cancelled, and a failure shows in the statement's running on.
        _ = PQcancel(raw, &message, Int32(message.count))
    }
}
