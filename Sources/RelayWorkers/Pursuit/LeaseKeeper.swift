import Logging
import Metrics
import NIOConcurrencyHelpers
import RelayCore
import RelayStore

/// The leases that this process holds: renewed together, three times in the time that they last. Work whose lease could not
/// be renewed is cancelled before anybody else may take it up.
final class LeaseKeeper: Sendable {
    private struct Held {
        var fence: Int32
        var expiresAt: ContinuousClock.Instant
        var task: Task<Void, Never>?
    }

    private let store: RelayStore
    private let lease: Duration
    private let logger: Logger
    private let held = NIOLockedValueBox<[ValidationID: Held]>([:])

    init(store: RelayStore, lease: Duration, logger: Logger) {
        self.store = store
        self.lease = lease
        self.logger = logger
    }

    /// By how much a lease ends here before another copy may take it up.
    private var margin: Duration { lease / 6 }

    var count: Int { held.withLockedValue { $0.count } }

    /// - Parameter claimedAt: a moment before the claim was sent.
    func hold(_ claimed: ClaimedPursuit, since claimedAt: ContinuousClock.Instant) {
        held.withLockedValue { $0[claimed.id] = Held(fence: claimed.fence, expiresAt: claimedAt + lease) }
    }

    /// What is to be cancelled if the lease is lost.
    func attach(_ task: Task<Void, Never>, to claimed: ClaimedPursuit) {
        held.withLockedValue { held in
            guard held[claimed.id]?.fence == claimed.fence else { return }
            held[claimed.id]?.task = task
        }
    }

    func drop(_ claimed: ClaimedPursuit) {
        held.withLockedValue { held in
            if held[claimed.id]?.fence == claimed.fence { held[claimed.id] = nil }
        }
    }

    /// Whether nobody else may have taken it up yet, by this process's own clock. A process that did not run for a while has to
    /// ask: it goes on where it stood before anything has told it that its lease is over.
    func covers(_ claimed: ClaimedPursuit) -> Bool {
        held.withLockedValue { held in
            guard let one = held[claimed.id], one.fence == claimed.fence else { return false }
            return one.expiresAt - margin > .now
        }
    }

    /// Until the task is cancelled. Renewing may wait for a database that does not answer; looking for leases that ran out
    /// meanwhile may not.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                while !Task.isCancelled {
                    try? await Task.sleep(for: lease / 3)
                    await renewAll()
                }
            }
            group.addTask { [self] in
                while !Task.isCancelled {
                    try? await Task.sleep(for: lease / 12)
                    dropLost()
                }
            }
        }
    }

    private func renewAll() async {
        let leases = held.withLockedValue { $0.map { (id: $0.key, fence: $0.value.fence) } }
        for start in stride(from: 0, to: leases.count, by: 1_000) {
            let now = ContinuousClock.now
            let chunk = Array(leases[start..<min(start + 1_000, leases.count)])
            guard let renewed = try? await store.renew(chunk, lease: lease) else { continue }
            held.withLockedValue { held in
                for (id, fence) in chunk where held[id]?.fence == fence {
                    // Not renewed: somebody else's, or finished in the meantime, and then it is dropped anyway.
                    held[id]?.expiresAt = renewed.contains(id) ? now + lease : now
                }
            }
        }
    }

    /// Breaks off what a lease no longer covers, a little before another copy may take it up.
    private func dropLost() {
        let lost = held.withLockedValue { held in
            let now = ContinuousClock.now
            let lost = held.filter { $0.value.expiresAt - margin <= now }
            for id in lost.keys { held[id] = nil }
            return lost.values.compactMap(\.task)
        }
        guard !lost.isEmpty else { return }
        Counter(label: "relay_leases_lost").increment(by: lost.count)
        logger.warning(
            "leases ran out: the work they covered is dropped", metadata: ["count": .stringConvertible(lost.count)])
        for task in lost { task.cancel() }
    }

    func cancelAll() {
        for task in held.withLockedValue({ $0.values.compactMap(\.task) }) { task.cancel() }
    }

    /// On the way out: whatever is still held goes back, so that another copy takes it up at once.
    func giveBackAll() async {
        let leases = held.withLockedValue { held in
            defer { held.removeAll() }
            return held.map { (id: $0.key, fence: $0.value.fence) }
        }
        do {
            try await store.giveBack(leases)
        } catch {
            logger.warning(
                "leases could not be given back: they run out by themselves",
                metadata: ["count": .stringConvertible(leases.count)])
        }
    }
}
