import HTTPTypes
import Instrumentation
import Traces
import Tracing

/// The span of one request, if it has a trace: the caller's, or one that begins here.
///
/// Named after the route's template, since paths and queries contain emails and tokens.
struct RequestSpan: Sendable {
    private struct Fields: Extractor {
        func extract(key: String, from headers: HTTPFields) -> String? {
            HTTPField.Name(key).flatMap { headers[$0] }
        }
    }

    private let span: any Span

    /// - Parameter begins: whether a request without a trace may begin one.
    /// - Returns: nil if the request is not traced.
    static func start(_ request: HTTPRequest, begins: Bool) -> RequestSpan? {
        guard begins || request.headerFields[.traceparent] != nil else { return nil }
        var context = InstrumentationContext.topLevel
        InstrumentationSystem.instrument.extract(request.headerFields, into: &context, using: Fields())
        let span = InstrumentationSystem.tracer.startAnySpan(
            FrontMetrics.name(of: request.method), context: context, ofKind: .server)
        return span.context.trace == nil ? nil : RequestSpan(span: span)
    }

    var context: InstrumentationContext { span.context }

    func end(_ pass: RequestGate.Pass, _ outcome: RequestGate.Outcome) {
        guard span.isRecording else { return }
        let method = FrontMetrics.name(of: pass.method)
        span.operationName = outcome.route.isEmpty ? method : "\(method) \(outcome.route)"
        span.updateAttributes { attributes in
            attributes["http.request.method"] = method
            if !outcome.route.isEmpty { attributes["http.route"] = outcome.route }
            attributes["http.response.status_code"] = outcome.status.code
            attributes["relay.request_id"] = pass.requestID
            if let subject = outcome.subject { attributes["relay.\(subject.kind)_id"] = "\(subject.id)" }
            if let caller = outcome.caller { attributes["relay.key_id"] = caller }
            if outcome.status.kind == .serverError { attributes["error.type"] = "\(outcome.status.code)" }
        }
        if outcome.status.kind == .serverError { span.setStatus(SpanStatus(code: .error)) }
        span.end()
    }
}
