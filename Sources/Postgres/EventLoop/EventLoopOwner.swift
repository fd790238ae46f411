/// Starts an event loop, and stops it when the last of those who use it is gone.
final class EventLoopOwner: Sendable {
    let loop = EventLoop()

    init() { loop.start() }

    deinit { loop.stop() }
}
