import CLibPQ

/// What it takes to ask the server to cancel the statement that a connection is running. Usable from any thread.
final class CancelRequest: Sendable {
    // A PGcancel is made to be used from any thread (libpq manual, "Canceling Queries in Progress"), and is not changed by it.
    nonisolated(unsafe) private let raw: OpaquePointer

    init(taking raw: OpaquePointer) { self.raw = raw }

    deinit { PQfreeCancel(raw) }

    /// Opens a connection of its own and waits for the server to close it: blocks.
    func send() {
        var message = [CChar](repeating: 0, count: 256)
        // The server does not say whether anything was cancelled, and a failure shows in the statement's running on.
        _ = PQcancel(raw, &message, Int32(message.count))
    }
}
