import CLibPQ
import Foundation
import NIOConcurrencyHelpers

/// One thread that waits for sockets, alarms and submitted work. It is the executor of the lanes.
///
/// Work is submitted in an array under a lock. An eventfd wakes the thread only if it sleeps.
// Unchecked: only the loop's thread uses `handlers`, `alarms`, `spare` and `events`. `checkIsolated` verifies this
// where an actor's code gets here. Everything else is constant or in `shared`.
final class EventLoop: SerialExecutor, @unchecked Sendable {
    enum Job {
        case actor(UnownedJob)
        case call(@Sendable () -> Void)
    }

    struct Shared {
        var jobs: [Job] = []
        var isAsleep = false
        var isStopping = false
        var thread: pthread_t?
    }

    struct Alarm {
        var time: ContinuousClock.Instant
        var action: () -> Void
    }

    let shared = NIOLockedValueBox(Shared())
    let epoll: Int32
    let wakeUp: Int32
    var handlers: [Int32: (UInt32) -> Void] = [:]
    var alarms: [ObjectIdentifier: Alarm] = [:]
    var spare: [Job] = []
    var events = [epoll_event](repeating: epoll_event(), count: 64)

    init() {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeUp = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        // Fails only at start-up, if the process cannot open two more files.
        precondition(epoll >= 0 && wakeUp >= 0, "the process is out of file descriptors")
        watch(wakeUp, EPOLL_CTL_ADD, EPOLLIN.rawValue)
    }

    deinit {
        close(epoll)
        close(wakeUp)
    }

    /// Starts the thread, which keeps the loop alive until ``stop()``.
    func start() {
        Thread { self.run() }.start()
    }

    /// Ends the loop after the work submitted so far.
    func stop() {
        wake { $0.isStopping = true }
    }

    func execute(_ call: @escaping @Sendable () -> Void) {
        wake { $0.jobs.append(.call(call)) }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        wake { $0.jobs.append(.actor(job)) }
    }

    private func wake(_ change: (inout Shared) -> Void) {
        let mustWake = shared.withLockedValue { shared in
            change(&shared)
            defer { shared.isAsleep = false }
            return shared.isAsleep
        }
        if mustWake { eventfd_write(wakeUp, 1) }
    }

    func isIsolatingCurrentContext() -> Bool? {
        shared.withLockedValue { $0.thread } == pthread_self()
    }

    func checkIsolated() {
        precondition(isIsolatingCurrentContext() == true, "not on the event thread")
    }
}

/// Starts an event loop, and stops it when its last user is gone.
final class EventLoopOwner: Sendable {
    let loop = EventLoop()

    init() { loop.start() }

    deinit { loop.stop() }
}
