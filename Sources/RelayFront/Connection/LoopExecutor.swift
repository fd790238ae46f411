import NIOConcurrencyHelpers
import NIOCore

/// An event loop as something that tasks can run on.
///
/// Everything of a connection runs on its own event loop. Left alone, each request would go from the loop's thread to the process's
/// pool of threads and back: two wake-ups, which cost more than an answer from memory. What runs for long must leave the loop by
/// itself, or it holds up the loop's other connections.
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
