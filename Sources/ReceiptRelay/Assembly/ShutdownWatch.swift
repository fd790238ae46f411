import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// Sees to it that the process goes when it is told to: a second signal ends it at once, and so do ten seconds after the first.
struct ShutdownWatch: Sendable {
    static let limit: Duration = .seconds(10)
    let logger: Logger

    func run() async {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        var count = 0
        for await signal in signals {
            count += 1
            guard count == 1 else {
                logger.critical("told to go a second time: ending at once", metadata: ["reason": "\(signal)"])
                exit(130)
            }
            logger.notice("told to go: ending cleanly", metadata: ["reason": "\(signal)"])
            Task {
                try? await Task.sleep(for: Self.limit)
                logger.critical("not ended within ten seconds: ending now; leases run out by themselves")
                exit(1)
            }
        }
    }
}
