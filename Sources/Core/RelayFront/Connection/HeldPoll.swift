import NIOCore
import RelayStore

/// A held poll: a waiter that wakes on a change of its validation, on time-out, when the client leaves, and on
/// shutdown.
struct HeldPoll: Sendable {
    let waiter: Waiter
    private let watch: ConnectionWatch

    /// Registers the poll. Call ``end()`` exactly once for it.
    ///
    /// - Throws: ``ClientGone``.
    init(_ waiter: Waiter, on channel: any Channel) async throws {
        self.waiter = waiter
        do {
            watch = try await channel.eventLoop.submit {
                try channel.pipeline.syncOperations.handler(type: ConnectionHandler.self).watch
            }.get()
        } catch {
            // The connection is closed, so its pipeline is gone.
            waiter.leave()
            throw ClientGone()
        }
        guard watch.hold({ waiter.wake(.cancelled) }) else {
            waiter.leave()
            channel.close(promise: nil)
            throw ClientGone()
        }
    }

    func end() {
        watch.release()
        waiter.leave()
    }
}

/// The client left while its poll was held, so no answer is sent.
struct ClientGone: Error {}
