import HTTPTypes
import Instrumentation
import RelayCore
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

    func end(_ record: RequestRecorder.Record) {
        guard span.isRecording else { return }
        let method = FrontMetrics.name(of: record.method)
        span.operationName = record.route.isEmpty ? method : "\(method) \(record.route)"
        span.updateAttributes { attributes in
            attributes["http.request.method"] = method
            if !record.route.isEmpty { attributes["http.route"] = record.route }
            attributes["http.response.status_code"] = record.status.code
            attributes["relay.request_id"] = record.requestID
            if let id = record.validation { attributes["relay.validation_id"] = "\(id)" }
            if let id = record.keyID { attributes["relay.key_id"] = id.text }
            if record.status.kind == .serverError { attributes["error.type"] = "\(record.status.code)" }
        }
        if record.status.kind == .serverError { span.setStatus(SpanStatus(code: .error)) }
        span.end()
    }
}
