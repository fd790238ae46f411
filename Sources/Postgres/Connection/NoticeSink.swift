import CLibPQ
import Logging

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
