import NIOConcurrencyHelpers
import RelayCore

/// Settled answers in memory: an app that asks again costs the database nothing.
///
/// What is told from here may lag behind another process's change by one look of the ``ChangeFeed``, never behind this
/// process's own, and never goes back: a read that began before a change was heard of is not kept. Where the feed cannot look,
/// nothing is told from here.
public final class SettledCache: Sendable {
    /// The place of a read among changes: to be taken before the read is sent.
    public struct Ticket: Sendable { let number: UInt64 }

    private struct Entry {
        var known: KnownValidation
        /// A read that began before this one ended may have seen less.
        var sealed: UInt64
        var until: ContinuousClock.Instant
    }

    private struct State {
        var number: UInt64 = 0
        /// Reads up to this number may have missed a change of some validation in the bucket.
        var floors = [UInt64](repeating: 0, count: Bucket.count)
        /// Two generations: when the young one is full it becomes the old one, and what the old one still held is forgotten.
        var young: [ValidationID: Entry] = [:]
        var old: [ValidationID: Entry] = [:]
        var lookedAt: ContinuousClock.Instant?
        var usedAt: ContinuousClock.Instant?
    }

    /// How old the feed's last look may be.
    static let patience = Duration.seconds(1)
    /// A change that the feed should have missed is told after this at the latest.
    static let keepFor = Duration.seconds(15)

    private let capacity: Int
    private let state = NIOLockedValueBox(State())

    /// - Parameter capacity: of each of two generations; an entry is about half a kilobyte.
    init(capacity: Int = 8_192) {
        self.capacity = capacity
    }

    /// Nil where it is not known, or may no longer be true.
    func answer(_ id: ValidationID, now: ContinuousClock.Instant = .now) -> KnownValidation? {
        state.withLockedValue { state in
            guard let lookedAt = state.lookedAt, now - lookedAt < Self.patience else { return nil }
            if let entry = state.young[id] { return entry.until > now ? entry.known : nil }
            guard let entry = state.old.removeValue(forKey: id), entry.until > now else { return nil }
            insert(entry, into: &state)
            return entry.known
        }
    }

    func ticket() -> Ticket {
        state.withLockedValue { state in
            state.number += 1
            return Ticket(number: state.number)
        }
    }

    /// Keeps what a read has found, unless it is not settled yet, or something newer is known to exist.
    func keep(_ known: KnownValidation, read ticket: Ticket, now: ContinuousClock.Instant = .now) {
        // A time-out may be ours alone, judged by the clock while a grant is being written; and a late grant is what its app asks
        // for. Neither is told from memory.
        guard known.validation.status != .pending, known.validation.status != .timedOut else { return }
        let id = known.validation.id
        state.withLockedValue { state in
            guard ticket.number > state.floors[Int(id.bucket.number)] else { return }
            if let kept = state.young[id] ?? state.old[id], kept.sealed > ticket.number { return }
            state.number += 1
            state.usedAt = now
            insert(Entry(known: known, sealed: state.number, until: now + Self.keepFor), into: &state)
        }
    }

    /// These are no longer as they were.
    func changed(_ ids: some Sequence<ValidationID>) {
        state.withLockedValue { state in
            state.number += 1
            for id in ids {
                state.young[id] = nil
                state.old[id] = nil
                state.floors[Int(id.bucket.number)] = state.number
            }
        }
    }

    /// The feed has seen everything that was committed before `sentAt`.
    func looked(at sentAt: ContinuousClock.Instant, changed ids: some Sequence<ValidationID>) {
        changed(ids)
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

    /// Whether anything was told or kept lately.
    var isInUse: Bool {
        state.withLockedValue { $0.usedAt.map { ContinuousClock.now - $0 < Self.keepFor } ?? false }
    }

    private func insert(_ entry: Entry, into state: inout State) {
        if state.young.count >= capacity {
            state.old = state.young
            state.young = [:]
            state.young.reserveCapacity(capacity)
        }
        state.young[entry.known.validation.id] = entry
    }
}
