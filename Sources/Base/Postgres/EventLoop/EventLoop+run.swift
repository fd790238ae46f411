import CLibPQ
import Foundation
import NIOConcurrencyHelpers

extension EventLoop {
    func run() {
        shared.withLockedValue { $0.thread = pthread_self() }
        while turn() {}
        shared.withLockedValue { $0.thread = nil }
    }

    /// Runs one round: jobs, then sockets, then alarms. False if the loop must end.
    private func turn() -> Bool {
        var jobs = spare
        let isStopping = shared.withLockedValue { shared in
            swap(&jobs, &shared.jobs)
            shared.isAsleep = jobs.isEmpty && !shared.isStopping
            return shared.isStopping
        }
        for job in jobs { perform(job) }
        poll(waits: jobs.isEmpty && !isStopping)
        signal()
        guard !isStopping || !jobs.isEmpty else { return false }
        jobs.removeAll(keepingCapacity: true)
        spare = jobs
        return true
    }

    private func perform(_ job: Job) {
        switch job {
        case .actor(let job): job.runSynchronously(on: asUnownedSerialExecutor())
        case .call(let call): call()
        }
    }

    private func poll(waits: Bool) {
        let count = epoll_wait(epoll, &events, Int32(events.count), waits ? pause() : 0)
        if waits { shared.withLockedValue { $0.isAsleep = false } }
        guard count > 0 else { return }
        for event in events.prefix(Int(count)) {
            if event.data.fd == wakeUp {
                var value: eventfd_t = 0
                eventfd_read(wakeUp, &value)
            } else {
                handlers[event.data.fd]?(event.events)
            }
        }
    }

    /// Milliseconds until the next alarm, rounded up; -1 if there is none.
    private func pause() -> Int32 {
        guard let next = alarms.values.lazy.map(\.time).min() else { return -1 }
        let wait = ContinuousClock.now.duration(to: next)
        guard wait > .zero else { return 0 }
        let (seconds, attoseconds) = wait.components
        return Int32(clamping: min(seconds, 3600) * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
    }

    private func signal() {
        guard !alarms.isEmpty else { return }
        let now = ContinuousClock.now
        for (owner, alarm) in alarms where alarm.time <= now {
            alarms[owner] = nil
            alarm.action()
        }
    }
}
