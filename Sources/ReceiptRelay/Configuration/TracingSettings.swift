import Formats
import TraceExport
import Traces

/// Target and sampling of spans.
struct TracingSettings: Sendable {
    /// Nil: no spans are recorded.
    var target: SpanExporter.Target?
    var sampling: Sampling
    var serviceName: String

    init(_ reader: SettingReader) throws {
        serviceName = try reader.required(.tracingServiceName)
        sampling = Sampling(ratio: try reader.ratio(.tracingSampleRatio))
        let headers = try Self.headers(reader)
        // OpenTelemetry appends the signal's path to the base address.
        target = try reader.text(.tracingEndpoint).map { _ in
            SpanExporter.Target(url: try reader.base(.tracingEndpoint) + "/v1/traces", headers: headers)
        }
    }

    /// Reads `name=value,name=value`.
    private static func headers(_ reader: SettingReader) throws -> [(name: String, value: String)] {
        guard let text = try reader.text(.tracingHeaders) else { return [] }
        return try text.parts(at: ",").filter { !$0.isEmpty }.map { part in
            let pair = part.parts(at: "=", maxSplits: 1)
                .map { String($0.trimmingSpace()) }
            guard pair.count == 2, pair[0].wholeMatch(of: /[A-Za-z0-9_-]{1,100}/) != nil, !pair[1].isEmpty,
                pair[1].utf8.allSatisfy({ (0x20...0x7E).contains($0) })
            else {
                throw SettingError.malformed(
                    .tracingHeaders,
                    wants: "header fields such as authorization=Bearer abc, comma-separated")
            }
            return (pair[0], pair[1])
        }
    }
}
