import HeapModule
import NIOConcurrencyHelpers
public import RelayCore

/// Notifies held polls of settled validations, in one process.
///
/// Register first, then read the state, then wait: a change between the two finds the waiter registered already.
public final class ChangeHub: Sendable {
    private let state = NIOLockedValueBox(State())

    private struct Timed: Comparable {
        var at: ContinuousClock.Instant
        var waiter: Waiter
        static func < (left: Timed, right: Timed) -> Bool { left.at < right.at }
        static func == (left: Timed, right: Timed) -> Bool { left.at == right.at && left.waiter === right.waiter }
    }

    private struct State {
        var waiters = Waiters()
        var deadlines = Heap<Timed>()
        /// The process's only timer; it sleeps until the earliest of `deadlines`.
        var timer: (at: ContinuousClock.Instant, task: Task<Void, Never>)?
        var isShutDown = false

        /// Removes timers of waits that ended early. Runs only when timers far outnumber held polls, so that a wait
        /// costs next to nothing.
        mutating func forgetEndedWaits() {
            deadlines = Heap(deadlines.unordered.filter { $0.waiter.isWaiting(until: $0.at) })
        }
    }

    public init() {}

    /// Number of held polls.
    public var waiterCount: Int { state.withLockedValue { $0.waiters.count } }
    /// Number of stored timers.
    var timerCount: Int { state.withLockedValue { $0.deadlines.count } }
    /// Validations with held polls.
    public var waitedFor: [ValidationID] { state.withLockedValue { $0.waiters.validations } }

    /// Registers a waiter; every call must be balanced by ``Waiter/leave()``.
    public func register(_ id: ValidationID, key: APIKeyID? = nil) -> Waiter {
        let waiter = Waiter(id: id, key: key, hub: self)
        let isShutDown = state.withLockedValue { state in
            if !state.isShutDown {
                state.waiters.insert(waiter)
            }
            return state.isShutDown
        }
        if isShutDown { waiter.wake(.shutdown) }
        return waiter
    }

    /// Notifies the waiters of these validations.
    public func publish(_ changed: [Validation]) {
        for validation in changed {
            let waiters = state.withLockedValue { $0.waiters.of(validation.id) }
            if waiters.isEmpty { continue }
            let known = KnownValidation(validation)
            for waiter in waiters { waiter.wake(.changed(known)) }
        }
    }

    /// Wakes the held polls of keys that are no longer in memory.
    func doubt(_ keys: Set<APIKeyID>) {
        guard !keys.isEmpty else { return }
        let waiters = state.withLockedValue { $0.waiters.all }
        for waiter in waiters where waiter.key.map(keys.contains) ?? false { waiter.wake(.keyInDoubt) }
    }

    /// Wakes every held poll, now and from now on, because the process shuts down.
    public func shutDown() {
        let waiters = state.withLockedValue { state in
            state.isShutDown = true
            state.timer?.task.cancel()
            state.timer = nil
            return state.waiters.all
        }
        for waiter in waiters { waiter.wake(.shutdown) }
    }

    func remove(_ waiter: Waiter) {
        state.withLockedValue { $0.waiters.remove(waiter) }
    }

    func schedule(_ waiter: Waiter, at instant: ContinuousClock.Instant) {
        let isShutDown = state.withLockedValue { state in
            guard !state.isShutDown else { return true }
            if state.deadlines.count >= 1_024 + 2 * state.waiters.count { state.forgetEndedWaits() }
            state.deadlines.insert(Timed(at: instant, waiter: waiter))
            arm(&state)
            return false
        }
        if isShutDown { waiter.wake(.shutdown) }
    }

    private func arm(_ state: inout State) {
        guard let earliest = state.deadlines.min else { return }
        if let timer = state.timer, timer.at <= earliest.at { return }
        state.timer?.task.cancel()
        let task = Task { [weak self] in
            guard (try? await Task.sleep(until: earliest.at, clock: .continuous)) != nil else { return }
            self?.fire()
        }
        state.timer = (earliest.at, task)
    }

    private func fire() {
        let now = ContinuousClock.now
        let due = state.withLockedValue { state in
            var due: [Waiter] = []
            while let earliest = state.deadlines.min, earliest.at <= now {
                state.deadlines.removeMin()
                due.append(earliest.waiter)
            }
            state.timer = nil
            arm(&state)
            return due
        }
        for waiter in due { waiter.timeOut(at: now) }
    }
}

/// Waiters by validation. Most validations have only one, which is stored without a nested dictionary.
struct Waiters {
    private var alone: [ValidationID: Waiter] = [:]
    private var together: [ValidationID: [ObjectIdentifier: Waiter]] = [:]
    private(set) var count = 0

    var validations: [ValidationID] { Array(alone.keys) + Array(together.keys) }
    var all: [Waiter] { Array(alone.values) + together.values.flatMap(\.values) }

    func of(_ id: ValidationID) -> [Waiter] {
        if let waiter = alone[id] { return [waiter] }
        return together[id].map { Array($0.values) } ?? []
    }

    mutating func insert(_ waiter: Waiter) {
        count += 1
        if let first = alone.removeValue(forKey: waiter.id) {
            together[waiter.id] = [ObjectIdentifier(first): first, ObjectIdentifier(waiter): waiter]
        } else if together[waiter.id] != nil {
            together[waiter.id]?[ObjectIdentifier(waiter)] = waiter
        } else {
            alone[waiter.id] = waiter
        }
    }

    mutating func remove(_ waiter: Waiter) {
        if alone[waiter.id] === waiter {
            alone[waiter.id] = nil
        } else if together[waiter.id]?.removeValue(forKey: ObjectIdentifier(waiter)) != nil {
            if together[waiter.id]?.isEmpty == true { together[waiter.id] = nil }
        } else {
            return
        }
        count -= 1
    }
}
