import NIOConcurrencyHelpers
import NIOCore

/// An event loop as a task executor.
///
/// All work of a connection runs on its event loop. Otherwise each request would move to the process's thread pool and
/// back: two wake-ups, which cost more than an answer from memory. Long work must leave the loop by itself, or it
/// blocks the loop's other connections.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    private init(_ loop: any EventLoop) { self.loop = loop }

    /// The executor of a loop. It lives as long as the process, since a job refers to its executor without retaining
    /// it.
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
