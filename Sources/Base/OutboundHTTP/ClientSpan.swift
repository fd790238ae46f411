import Instrumentation
public import NIOHTTP1
import Traces
import Tracing

/// The span of a call to an external API. Records nothing without a trace.
///
/// The span records the host and the route's template, never the path or the query: these hold emails and tokens.
public struct ClientSpan: Sendable {
    private struct Fields: Injector {
        func inject(_ value: String, forKey name: String, into headers: inout HTTPHeaders) {
            headers.replaceOrAdd(name: name, value: value)
        }
    }

    private let span: (any Span)?

    /// - Parameters:
    ///   - template: the route, without any value that identifies a customer: `/apple/payment`.
    ///   - url: the span records only its host and port.
    ///   - headers: receive `traceparent`, and `tracestate` if the context has one.
    public static func start(
        _ method: HTTPMethod, _ template: String, url: String, headers: inout HTTPHeaders
    ) -> ClientSpan {
        guard let context = InstrumentationContext.current, context.trace != nil else { return ClientSpan(span: nil) }
        let span = InstrumentationSystem.tracer.startAnySpan("\(method) \(template)", context: context, ofKind: .client)
        if span.isRecording {
            span.updateAttributes { attributes in
                attributes["http.request.method"] = method.rawValue
                attributes["url.template"] = template
                attributes["server.address"] = Self.host(of: url)
            }
        }
        InstrumentationSystem.instrument.inject(span.context, into: &headers, using: Fields())
        return ClientSpan(span: span)
    }

    public func end(status: Int) {
        span?.attributes["http.response.status_code"] = status
        end(error: status >= 400 ? "\(status)" : nil)
    }

    public func end(_ error: OutboundError) { end(error: error.rawValue) }

    private func end(error: String?) {
        if let error {
            span?.attributes["error.type"] = error
            span?.setStatus(SpanStatus(code: .error))
        }
        span?.end()
    }

    /// `https://name:1@host:8443/path?x` gives `host:8443`.
    static func host(of url: String) -> String? {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        let authority = url[scheme.upperBound...].prefix { !"/?#".contains($0) }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last.map(String.init)
        return host?.isEmpty == false ? host : nil
    }
}
