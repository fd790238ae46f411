import NIOConcurrencyHelpers
import RelayCore

/// A key of a ``RecentCache``.
protocol Bucketed {
    var bucket: Bucket { get }
}

extension ValidationID: Bucketed {}
extension CustomerName: Bucketed {}

/// A cache of recently read values, so that a repeated request costs no query.
///
/// A cached answer may be older than another process's change by at most one query of the ``ChangeFeed``. It is never
/// older than this process's own changes, and never goes back: a read that began before a known change is not cached.
/// While the feed cannot query, the cache answers nothing.
final class RecentCache<Key: Bucketed & Hashable & Sendable, Value: Sendable>: Sendable {
    /// Number of a read in the order of reads and changes. It must be taken before the read is sent.
    struct Ticket: Sendable { let number: UInt64 }

    private struct Entry {
        var value: Value
        /// Number at which the value was cached. A read with a lower number may be older, and does not replace it.
        var sealed: UInt64
        var until: ContinuousClock.Instant
    }

    private struct State {
        var number: UInt64 = 0
        /// For each bucket, the number of its last change. Reads with a lower number may have missed that change.
        var floors = [UInt64](repeating: 0, count: Bucket.count)
        /// Two generations: when the young one is full, it becomes the old one, and the previous old one is dropped.
        var young: [Key: Entry] = [:]
        var old: [Key: Entry] = [:]
        var lookedAt: ContinuousClock.Instant?
        var usedAt: ContinuousClock.Instant?
    }

    /// Maximum age of the feed's last query.
    static var patience: Duration { .seconds(1) }
    /// Longest time for which an entry can hide a change that the feed missed.
    static var keepFor: Duration { .seconds(15) }

    private let capacity: Int
    private let state = NIOLockedValueBox(State())

    /// - Parameter capacity: entries in each of two generations.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Nil if the value is not cached, or may be outdated.
    func answer(_ key: Key, now: ContinuousClock.Instant = .now) -> Value? {
        state.withLockedValue { state in
            guard let lookedAt = state.lookedAt, now - lookedAt < Self.patience else { return nil }
            if let entry = state.young[key] { return entry.until > now ? entry.value : nil }
            guard let entry = state.old.removeValue(forKey: key), entry.until > now else { return nil }
            insert(entry, for: key, into: &state)
            return entry.value
        }
    }

    func ticket() -> Ticket {
        state.withLockedValue { state in
            state.number += 1
            return Ticket(number: state.number)
        }
    }

    /// Caches the value of a read, unless a newer change is known.
    ///
    /// - Parameter longest: longest time for which the value may be returned.
    func keep(
        _ value: Value, for key: Key, read ticket: Ticket, longest: Duration = keepFor,
        now: ContinuousClock.Instant = .now
    ) {
        state.withLockedValue { state in
            guard ticket.number > state.floors[Int(key.bucket.number)] else { return }
            if let kept = state.young[key] ?? state.old[key], kept.sealed > ticket.number { return }
            state.number += 1
            state.usedAt = now
            let until = now + min(longest, Self.keepFor)
            insert(Entry(value: value, sealed: state.number, until: until), for: key, into: &state)
        }
    }

    /// Removes these keys, because their values have changed.
    func changed(_ keys: some Sequence<Key>) {
        state.withLockedValue { state in
            state.number += 1
            for key in keys {
                state.young[key] = nil
                state.old[key] = nil
                state.floors[Int(key.bucket.number)] = state.number
            }
        }
    }

    /// Records that the feed has seen everything committed before `sentAt`.
    func looked(at sentAt: ContinuousClock.Instant, changed keys: some Sequence<Key>) {
        changed(keys)
        state.withLockedValue { $0.lookedAt = sentAt }
    }

    /// Clears the cache, because the feed may have missed changes committed before `sentAt`.
    func clear(at sentAt: ContinuousClock.Instant) {
        state.withLockedValue { state in
            state.young = [:]
            state.old = [:]
            state.number += 1
            for bucket in state.floors.indices { state.floors[bucket] = state.number }
            state.lookedAt = sentAt
        }
    }

    /// Whether a value was cached recently.
    var isInUse: Bool {
        state.withLockedValue { $0.usedAt.map { ContinuousClock.now - $0 < Self.keepFor } ?? false }
    }

    private func insert(_ entry: Entry, for key: Key, into state: inout State) {
        if state.young.count >= capacity {
            state.old = state.young
            state.young = [:]
            state.young.reserveCapacity(capacity)
        }
        state.young[key] = entry
    }
}
