import Hummingbird
import SimulatorKit

/// Sends control calls one way and everything else to the simulated Cleeng, unknown addresses included, so that they
/// show in the log.
struct SimulatorResponder: HTTPResponder {
    typealias Context = SimulatorContext

    let cleeng: CleengFront
    let control: ControlFront

    init(simulator: Simulator) {
        cleeng = CleengFront(simulator: simulator)
        control = ControlFront(simulator: simulator)
    }

    func respond(to request: Request, context: SimulatorContext) async throws -> Response {
        let segments = PathSegments.decode(request.uri.path)
        if segments.first == "_simulator" || segments == ["healthz"] {
            return try await control.respond(to: request, segments: segments)
        }
        return try await cleeng.respond(to: request, segments: segments, on: context.connection)
    }
}
