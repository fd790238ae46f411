import HTTPTypes
import Logging
import RelayCore
import Telemetry

/// What is told of a request once it is answered: its numbers and its line in the log.
struct RequestRecorder: Sendable {
    struct Record {
        var method: HTTPRequest.Method
        /// The route's template; empty where none matched.
        var route: String
        var status: HTTPResponse.Status
        var duration: Duration
        var requestID: String
        var validation: ValidationID?
        var keyID: APIKeyID?
        /// Of an error that is ours.
        var cause: (any Error)?
    }

    let metrics: FrontMetrics
    let logger: Logger

    func take(_ record: Record) {
        metrics.record(
            route: record.route, method: record.method, status: record.status, duration: record.duration)
        let level = level(of: record)
        guard level >= logger.logLevel else { return }
        var metadata = Logger.Metadata([
            .method: .string(FrontMetrics.name(of: record.method)),
            .route: .string(record.route.isEmpty ? "none" : record.route), .status: .number(record.status.code),
            .durationMs: .milliseconds(record.duration), .requestId: .string(record.requestID),
        ])
        if let id = record.validation { metadata[.validationId] = .string("\(id)") }
        if let id = record.keyID { metadata[.keyId] = .string(id.text) }
        if let cause = record.cause { metadata[.error] = .string("\(cause)") }
        logger.log(level: level, "request", metadata: metadata)
    }

    private func level(of record: Record) -> Logger.Level {
        switch record.status.code {
        case 500: .error
        case 501...: .warning
        case 499: .debug
        case 400...: .info
        default: record.method == .post ? .info : .debug
        }
    }
}
