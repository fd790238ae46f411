import NIOConcurrencyHelpers
import RelayCore

/// What a ``RecentCache`` keeps things by.
protocol Bucketed {
    var bucket: Bucket { get }
}

extension ValidationID: Bucketed {}
extension CustomerName: Bucketed {}

/// What was read lately, in memory: who asks again costs the database nothing.
///
/// A cached answer may lag behind another process's change by one look of the ``ChangeFeed``, never behind this
/// process's own, and never goes back: a read that began before a change was known is not kept. Where the feed cannot look,
/// nothing is answered from here.
final class RecentCache<Key: Bucketed & Hashable & Sendable, Value: Sendable>: Sendable {
    /// The place of a read among changes: to be taken before the read is sent.
    struct Ticket: Sendable { let number: UInt64 }

    private struct Entry {
        var value: Value
        /// A read that began before this one ended may have seen less.
        var sealed: UInt64
        var until: ContinuousClock.Instant
    }

    private struct State {
        var number: UInt64 = 0
        /// Reads up to this number may have missed a change of something in the bucket.
        var floors = [UInt64](repeating: 0, count: Bucket.count)
        /// Two generations: when the young one is full it becomes the old one, and what the old one still held is forgotten.
        var young: [Key: Entry] = [:]
        var old: [Key: Entry] = [:]
        var lookedAt: ContinuousClock.Instant?
        var usedAt: ContinuousClock.Instant?
    }

    /// How old the feed's last look may be.
    static var patience: Duration { .seconds(1) }
    /// The longest that an entry may hide a change which the feed missed.
    static var keepFor: Duration { .seconds(15) }

    private let capacity: Int
    private let state = NIOLockedValueBox(State())

    /// - Parameter capacity: of each of two generations.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Nil where it is not known, or may no longer be true.
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

    /// Keeps what a read has found, unless something newer is known to exist.
    ///
    /// - Parameter longest: for how long it may be answered at most.
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

    /// These are no longer as they were.
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

    /// The feed has seen everything that was committed before `sentAt`.
    func looked(at sentAt: ContinuousClock.Instant, changed keys: some Sequence<Key>) {
        changed(keys)
        state.withLockedValue { $0.lookedAt = sentAt }
    }

    /// Nothing is known of what was committed before `sentAt`.
    func clear(at sentAt: ContinuousClock.Instant) {
        state.withLockedValue { state in
            state.young = [:]
            state.old = [:]
            state.number += 1
            for bucket in state.floors.indices { state.floors[bucket] = state.number }
            state.lookedAt = sentAt
        }
    }

    /// Whether it was read or written lately.
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
