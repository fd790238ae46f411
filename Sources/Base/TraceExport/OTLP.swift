import Formats
import Traces
import Tracing

/// The body of `POST /v1/traces`, in OTLP's JSON form. Equal spans produce equal bytes.
///
/// Source: OpenTelemetry Protocol 1.x, "JSON Protobuf Encoding": ids in hexadecimal, 64-bit numbers as text,
/// enumerations as numbers.
enum OTLP {
    static func request(_ spans: [FinishedSpan], of resource: TraceResource) -> [UInt8] {
        var writer = JSONWriter(capacity: 512 * (spans.count + 1))
        writer.beginObject()
        writer.beginArray("resourceSpans")
        writer.beginObject()
        writer.beginObject("resource")
        writer.attributes(resource.attributes.map { ($0.key, .string($0.value)) })
        writer.endObject()
        writer.beginArray("scopeSpans")
        writer.beginObject()
        writer.beginObject("scope")
        writer.member("name", "receipt-relay")
        writer.member("version", resource.version)
        writer.endObject()
        writer.beginArray("spans")
        for span in spans { writer.span(span) }
        writer.endArray()
        writer.endObject()
        writer.endArray()
        writer.endObject()
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func span(_ span: FinishedSpan) {
        beginObject()
        attributes(sorted(span.attributes))
        member("endTimeUnixNano", "\(span.end)")
        if !span.events.isEmpty {
            beginArray("events")
            for event in span.events {
                beginObject()
                attributes(sorted(event.attributes))
                member("name", event.name)
                member("timeUnixNano", "\(event.at)")
                endObject()
            }
            endArray()
        }
        member("kind", number(of: span.kind))
        if !span.links.isEmpty {
            beginArray("links")
            for link in span.links {
                beginObject()
                member("spanId", link.spanId)
                member("traceId", link.traceId)
                endObject()
            }
            endArray()
        }
        member("name", span.name)
        member("parentSpanId", span.parent)
        member("spanId", span.trace.spanId)
        member("startTimeUnixNano", "\(span.start)")
        if let status = span.status {
            beginObject("status")
            member("code", status.code == .ok ? 1 : 2)
            member("message", status.message)
            endObject()
        }
        member("traceId", span.trace.traceId)
        member("traceState", span.trace.state)
        endObject()
    }

    fileprivate mutating func attributes(_ attributes: [(key: String, value: SpanAttribute)]) {
        beginArray("attributes")
        for (key, value) in attributes {
            beginObject()
            member("key", key)
            beginObject("value")
            attribute(value)
            endObject()
            endObject()
        }
        endArray()
    }

    /// Writes a list as its text: the relay sets no list attributes.
    private mutating func attribute(_ attribute: SpanAttribute) {
        switch attribute {
        case .string(let text): member("stringValue", text)
        case .bool(let flag): member("boolValue", flag)
        case .int32(let number): member("intValue", "\(number)")
        case .int64(let number): member("intValue", "\(number)")
        case .double(let number) where number.isFinite: field("doubleValue", json: "\(number)")
        case .stringConvertible(let value): member("stringValue", "\(value)")
        default: member("stringValue", "\(attribute)")
        }
    }

    private func sorted(_ attributes: SpanAttributes) -> [(key: String, value: SpanAttribute)] {
        var list: [(key: String, value: SpanAttribute)] = []
        // `SpanAttributes` is not a sequence.
        // swift-format-ignore: ReplaceForEachWithForLoop
        attributes.forEach { key, value in list.append((key, value)) }
        return list.sorted { $0.key < $1.key }
    }

    private func number(of kind: SpanKind) -> Int {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }
}

/// Identity of the process that sends spans.
public struct TraceResource: Sendable {
    public var serviceName: String
    public var version: String
    /// Distinguishes the copies of the relay.
    public var instance: String

    public init(serviceName: String, version: String, instance: String) {
        self.serviceName = serviceName
        self.version = version
        self.instance = instance
    }

    var attributes: [(key: String, value: String)] {
        [
            ("service.name", serviceName), ("service.version", version), ("service.instance.id", instance),
            ("telemetry.sdk.language", "swift"),
        ]
    }
}
