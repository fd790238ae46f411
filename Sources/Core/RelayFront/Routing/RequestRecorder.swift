import HTTPTypes
import Instrumentation
import Logging
import RelayCore

/// Records an answered request: its metrics and its log line.
struct RequestRecorder: Sendable {
    struct Record {
        var method: HTTPRequest.Method
        /// Template of the route; empty if none matched.
        var route: String
        var status: HTTPResponse.Status
        var duration: Duration
        var requestID: String
        var validation: ValidationID?
        var keyID: APIKeyID?
        /// Code of the answer's problem; nil if there is none.
        var code: ProblemCode?
        /// The error that led to a 5xx answer.
        var cause: (any Error)?
    }

    let metrics: FrontMetrics
    let logger: Logger
    /// Nil if no other origin may call.
    var crossOrigin: CrossOrigin?

    /// Adds the header fields that every answer has, and records the answer.
    ///
    /// - Parameter headers: header fields of the request.
    func complete(
        _ fields: inout HTTPFields, of headers: HTTPFields, _ quotas: [RateQuota], _ span: RequestSpan?,
        _ record: Record
    ) {
        fields[.xRequestID] = record.requestID
        fields.setRateLimits(quotas)
        crossOrigin?.complete(&fields, of: headers, route: record.route)
        if headers.closesConnection { fields[.connection] = "close" }
        guard let span else { return take(record) }
        span.end(record)
        // Sets the trace id for the log line.
        InstrumentationContext.withValue(span.context) { take(record) }
    }

    private func take(_ record: Record) {
        metrics.record(
            route: record.route, method: record.method, status: record.status, duration: record.duration)
        let level = level(of: record)
        guard level >= logger.logLevel else { return }
        var metadata: Logger.Metadata = [
            "method": .string(FrontMetrics.name(of: record.method)),
            "route": .string(record.route.isEmpty ? "none" : record.route),
            "status": .stringConvertible(record.status.code),
            "duration_ms": .stringConvertible(record.duration.microseconds / 1_000),
            "request_id": .string(record.requestID),
        ]
        if let id = record.validation { metadata["validation_id"] = .string("\(id)") }
        if let id = record.keyID { metadata["key_id"] = .string(id.text) }
        if let code = record.code { metadata["code"] = .string(code.rawValue) }
        if let cause = record.cause { metadata["error"] = .string("\(cause)") }
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
