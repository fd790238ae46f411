import Hummingbird
import Logging
import NIOCore
import SimulatorKit

/// The HTTP server of the simulator, and who sends its events.
struct SimulatorService: Sendable {
    let simulator: Simulator
    let host: String
    /// 0 for any free one.
    let port: Int
    let logger: Logger

    /// Serves until SIGTERM or SIGINT; hanging requests are cut off within half a second of it.
    /// - Parameter onReady: is told the address, such as `http://127.0.0.1:8090`.
    func run(onReady: @escaping @Sendable (String) -> Void) async throws {
        var application = Application(
            simulating: SimulatorResponder(simulator: simulator), host: host, port: port, logger: logger,
            onReady: onReady)
        application.addServices(WebhookService(simulator: simulator))
        try await application.runService()
    }
}
