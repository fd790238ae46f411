import Hummingbird
import Logging
import SimulatorKit

/// The HTTP server of the simulated API.
struct ServerAPIService: Sendable {
    let api: ServerAPI
    let host: String
    /// 0 for any free one.
    let port: Int
    let logger: Logger

    /// Serves until SIGTERM or SIGINT; hanging requests are cut off within half a second of it.
    ///
    /// - Parameter onReady: is told the address, such as `http://127.0.0.1:8091`.
    func run(onReady: @escaping @Sendable (String) -> Void) async throws {
        let application = Application(
            simulating: ServerAPIResponder(api: api), host: host, port: port, logger: logger, onReady: onReady)
        try await application.runService()
    }
}
