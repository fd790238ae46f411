import Foundation
import Traces
import Tracing

/// The body of `POST /v1/traces`, in OTLP's JSON form.
///
/// Source: OpenTelemetry Protocol 1.x, "JSON Protobuf Encoding": ids in hexadecimal, 64-bit numbers as text, enumerations as numbers.
enum OTLP {
    struct Request: Encodable {
        var resourceSpans: [ResourceSpans]
    }

    struct ResourceSpans: Encodable {
        var resource: Resource
        var scopeSpans: [ScopeSpans]
    }

    struct Resource: Encodable {
        var attributes: [KeyValue]
    }

    struct ScopeSpans: Encodable {
        var scope: Scope
        var spans: [Span]
    }

    struct Scope: Encodable {
        var name: String
        var version: String
    }

    struct KeyValue: Encodable {
        var key: String
        var value: Value
    }

    struct Value: Encodable {
        var stringValue: String?
        var boolValue: Bool?
        var intValue: String?
        var doubleValue: Double?
    }

    struct Event: Encodable {
        var timeUnixNano: String
        var name: String
        var attributes: [KeyValue]
    }

    struct Link: Encodable {
        var traceId: String
        var spanId: String
    }

    struct Status: Encodable {
        var code: Int
        var message: String?
    }

    struct Span: Encodable {
        var traceId: String
        var spanId: String
        var parentSpanId: String?
        var traceState: String?
        var name: String
        var kind: Int
        var startTimeUnixNano: String
        var endTimeUnixNano: String
        var attributes: [KeyValue]
        var events: [Event]?
        var links: [Link]?
        var status: Status?
    }

    static func request(_ spans: [FinishedSpan], of resource: TraceResource) throws -> Data {
        let encoder = JSONEncoder()
        // The same again is the same bytes.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(
            Request(resourceSpans: [
                ResourceSpans(
                    resource: Resource(
                        attributes: resource.attributes.map {
                            KeyValue(key: $0.key, value: Value(stringValue: $0.value))
                        }
                    ),
                    scopeSpans: [
                        ScopeSpans(
                            scope: Scope(name: "receipt-relay", version: resource.version), spans: spans.map(Span.init))
                    ])
            ]))
    }
}

extension OTLP.Span {
    init(_ span: FinishedSpan) {
        traceId = span.trace.traceId
        spanId = span.trace.spanId
        parentSpanId = span.parent
        traceState = span.trace.state
        name = span.name
        kind = Self.number(of: span.kind)
        startTimeUnixNano = "\(span.start)"
        endTimeUnixNano = "\(span.end)"
        attributes = [OTLP.KeyValue](span.attributes)
        events =
            span.events.isEmpty
            ? nil
            : span.events.map {
                OTLP.Event(timeUnixNano: "\($0.at)", name: $0.name, attributes: [OTLP.KeyValue]($0.attributes))
            }
        links = span.links.isEmpty ? nil : span.links.map { OTLP.Link(traceId: $0.traceId, spanId: $0.spanId) }
        status = span.status.map { OTLP.Status(code: $0.code == .ok ? 1 : 2, message: $0.message) }
    }

    private static func number(of kind: SpanKind) -> Int {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }
}

extension [OTLP.KeyValue] {
    init(_ attributes: SpanAttributes) {
        self.init()
        // They are no sequence.
        // swift-format-ignore: ReplaceForEachWithForLoop
        attributes.forEach { key, value in append(OTLP.KeyValue(key: key, value: OTLP.Value(value))) }
        sort { $0.key < $1.key }
    }
}

extension OTLP.Value {
    /// A list is written as the text of it: we give none.
    init(_ attribute: SpanAttribute) {
        switch attribute {
        case .string(let text): self.init(stringValue: text)
        case .bool(let flag): self.init(boolValue: flag)
        case .int32(let number): self.init(intValue: "\(number)")
        case .int64(let number): self.init(intValue: "\(number)")
        case .double(let number) where number.isFinite: self.init(doubleValue: number)
        case .stringConvertible(let value): self.init(stringValue: "\(value)")
        default: self.init(stringValue: "\(attribute)")
        }
    }
}
