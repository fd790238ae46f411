import HTTPServer
import NIOCore

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
            watch = try await ConnectionWatch.of(channel)
        } catch {
            waiter.leave()
            throw error
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
