import HummingbirdCore
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// An event loop as something that tasks can run on.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    private init(_ loop: any EventLoop) { self.loop = loop }

    /// One for each loop, for the length of the process: a job names its executor without holding it.
    static func of(_ loop: any EventLoop) -> LoopExecutor {
        all.withLockedValue { all in
            if let known = all[ObjectIdentifier(loop)] { return known }
            let executor = LoopExecutor(loop)
            all[ObjectIdentifier(loop)] = executor
            return executor
        }
    }

    private static let all = NIOLockedValueBox<[ObjectIdentifier: LoopExecutor]>([:])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Runs everything of a connection on the connection's own event loop.
///
/// Left alone, each request goes from the loop's thread to the process's pool of threads and back: two wake-ups, which cost
/// more than an answer from memory. What runs for long must step off by itself, or it holds up the loop's other connections.
struct LoopBoundChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        // A connection keeps what it read into last: most requests are small, and what reads larger ones grows by itself.
        let buffers = AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 65_536)
        return channel.setOption(.recvAllocator, value: buffers).flatMap {
            base.setup(channel: channel, logger: logger)
        }
    }

    func handle(value: Base.Value, logger: Logger) async {
        await withTaskExecutorPreference(LoopExecutor.of(value.channel.eventLoop)) {
            await base.handle(value: value, logger: logger)
        }
    }
}
