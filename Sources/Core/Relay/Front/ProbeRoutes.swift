import Formats
import HTTPServer
import Hummingbird
import Telemetry

/// `/healthz`, `/readyz` and `/metrics`: open to every client of the ops port.
struct ProbeRoutes: Sendable {
    let registry: PrometheusRegistry
    let readiness: @Sendable () async -> Readiness

    var routes: [Route] { [.get("/healthz", health), .get("/readyz", ready), .get("/metrics", metrics)] }

    private func health(_ request: Request, _ context: FrontContext) -> Response {
        .json(ByteBuffer(string: #"{"status":"ok"}"#))
    }

    private func ready(_ request: Request, _ context: FrontContext) async -> Response {
        let readiness = await readiness()
        return .json(readiness.isReady ? .ok : .serviceUnavailable) { writer in
            writer.beginObject()
            writer.field("status", readiness.isReady ? "ready" : "not_ready")
            writer.beginArray("missing")
            for name in readiness.missing { writer.value(name) }
            writer.endArray()
            writer.endObject()
        }
    }

    private func metrics(_ request: Request, _ context: FrontContext) async -> Response {
        Response(
            status: .ok, headers: [.contentType: PrometheusRegistry.contentType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: await registry.exposition())))
    }
}

/// Whether this copy can work.
public struct Readiness: Sendable, Equatable {
    /// Missing requirements in fixed terms, such as `database` and `schema`; empty when ready.
    public var missing: [String]

    public init(missing: [String] = []) {
        self.missing = missing
    }

    public var isReady: Bool { missing.isEmpty }
}
