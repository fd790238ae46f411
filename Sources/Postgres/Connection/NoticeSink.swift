import CLibPQ
import Logging

/// Where the server's notices go: the log, at level debug.
final class NoticeSink {
    private let logger: Logger

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

    private func receive(_ result: OpaquePointer) {
        guard logger.logLevel <= .debug else { return }
        let error = PostgresError(result: result)
        logger.debug(
            "PostgreSQL notice", metadata: ["sqlState": "\(error.sqlState ?? "-")", "notice": "\(error.serverMessage)"])
    }
}
