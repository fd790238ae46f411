import NIOCore
import RelayStore

/// A poll that is being held: a waiter that is notified by its validation's change, by time, by the client's departure and
/// by the process's.
struct HeldPoll: Sendable {
    let waiter: Waiter
    private let watch: ConnectionWatch

    /// Registers; to be balanced by ``end()``.
    ///
    /// - Throws: ``ClientGone``.
    init(_ waiter: Waiter, on channel: any Channel) async throws {
        self.waiter = waiter
        do {
            watch = try await channel.eventLoop.submit {
                try channel.pipeline.syncOperations.handler(type: ConnectionHandler.self).watch
            }.get()
        } catch {
            // The pipeline is taken down with the connection.
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

/// The client left while its poll was held: nobody is there to be answered.
struct ClientGone: Error {}
