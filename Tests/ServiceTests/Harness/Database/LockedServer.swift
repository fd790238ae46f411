import NIOConcurrencyHelpers

/// The server's process, if it runs.
final class LockedServer: Sendable {
    private let process = NIOLockedValueBox<Command?>(nil)

    func started(_ command: Command) { process.withLockedValue { $0 = command } }

    var isRunning: Bool { process.withLockedValue { $0 != nil } }

    func taken() -> Command? {
        process.withLockedValue { process in
            defer { process = nil }
            return process
        }
    }
}
