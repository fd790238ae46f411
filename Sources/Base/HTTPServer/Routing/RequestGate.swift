import Formats
import HTTPTypes
import Instrumentation
package import Logging

/// Gives each request whose head was read its id and span. Records its answer in metrics and log, and adds the header
/// fields that every answer has. It does so whether the router answers or a route from memory.
package struct RequestGate: Sendable {
    let metrics: FrontMetrics
    let logger: Logger
    /// Nil if no other origin may call.
    let crossOrigin: CrossOrigin?
    /// Nil: there are no limits.
    let limits: RateLimits?
    /// Whether a request without a trace may begin one.
    let beginsTraces: Bool

    package init(
        metrics: FrontMetrics, logger: Logger, crossOrigin: CrossOrigin? = nil, limits: RateLimits? = nil,
        beginsTraces: Bool = false
    ) {
        self.metrics = metrics
        self.logger = logger
        self.crossOrigin = crossOrigin
        self.limits = limits
        self.beginsTraces = beginsTraces
    }

    /// A request that has entered and is not answered yet.
    struct Pass: Sendable {
        let method: HTTPRequest.Method
        let requestID: String
        let span: RequestSpan?
        let begin: ContinuousClock.Instant
    }

    /// What the server did about a request.
    struct Outcome {
        /// Template of the route; empty if none matched.
        var route: String
        var status: HTTPResponse.Status
        var subject: RequestSubject?
        var caller: String?
        var quotas: [RateQuota] = []
        /// Code of the answer's problem; nil if there is none.
        var code: ProblemCode?
        /// The error that led to a 5xx answer.
        var cause: (any Error)?
    }

    func enter(_ head: HTTPRequest, at begin: ContinuousClock.Instant = .now) -> Pass {
        Pass(
            method: head.method, requestID: RequestID.of(head.headerFields),
            span: RequestSpan.start(head, begins: beginsTraces), begin: begin)
    }

    /// - Parameters:
    ///   - fields: header fields of the answer.
    ///   - headers: header fields of the request.
    func leave(_ pass: Pass, _ fields: inout HTTPFields, of headers: HTTPFields, _ outcome: Outcome) {
        let duration = ContinuousClock.now - pass.begin
        fields[.xRequestID] = pass.requestID
        fields.setRateLimits(outcome.quotas)
        crossOrigin?.complete(&fields, of: headers, route: outcome.route)
        if headers.closesConnection { fields[.connection] = "close" }
        guard let span = pass.span else { return record(pass, outcome, duration) }
        span.end(pass, outcome)
        // Sets the trace id for the log line.
        InstrumentationContext.withValue(span.context) { record(pass, outcome, duration) }
    }

    private func record(_ pass: Pass, _ outcome: Outcome, _ duration: Duration) {
        metrics.record(route: outcome.route, method: pass.method, status: outcome.status, duration: duration)
        let level = level(of: pass, outcome)
        guard level >= logger.logLevel else { return }
        var metadata: Logger.Metadata = [
            "method": .string(FrontMetrics.name(of: pass.method)),
            "route": .string(outcome.route.isEmpty ? "none" : outcome.route),
            "status": .stringConvertible(outcome.status.code),
            "duration_ms": .stringConvertible(duration.microseconds / 1_000),
            "request_id": .string(pass.requestID),
        ]
        if let subject = outcome.subject { metadata["\(subject.kind)_id"] = .string("\(subject.id)") }
        if let caller = outcome.caller { metadata["key_id"] = .string(caller) }
        if let code = outcome.code { metadata["code"] = .string(code.rawValue) }
        if let cause = outcome.cause { metadata["error"] = .string("\(cause)") }
        logger.log(level: level, "request", metadata: metadata)
    }

    private func level(of pass: Pass, _ outcome: Outcome) -> Logger.Level {
        switch outcome.status.code {
        case 500: .error
        case 501...: .warning
        case 499: .debug
        case 400...: .info
        default: pass.method == .post ? .info : .debug
        }
    }
}
