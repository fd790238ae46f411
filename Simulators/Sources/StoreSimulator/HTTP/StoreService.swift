import ArgumentParser
import Foundation
import Hummingbird
import Logging
import SimulatorKit

/// The HTTP server of a simulated store.
enum StoreService {
    /// Serves until SIGTERM or SIGINT, and says its address when it is ready; hanging requests are cut off within half a second.
    static func run<Store: SimulatedStore>(_ store: Store, _ options: ServeOptions, name: String) async throws {
        var logger = Logger(label: "store-simulator") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .critical
        let front = StoreFront(store, keepRequests: options.keepRequests)
        let application = Application(
            simulating: StoreResponder(front: front), host: options.host, port: options.port, logger: logger
        ) { address in
            // At once, also where it goes into a pipe.
            try? FileHandle.standardOutput.write(
                contentsOf: Data("store-simulator \(name) listening on \(address)\n".utf8))
        }
        do {
            try await application.runService()
        } catch {
            try FileHandle.standardError.write(
                contentsOf: Data("store-simulator: cannot listen on \(options.host):\(options.port): \(error)\n".utf8))
            throw ExitCode.failure
        }
    }
}
