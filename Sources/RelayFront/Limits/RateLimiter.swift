import HTTPTypes
import NIOConcurrencyHelpers
import RelayCore

/// Holds whoever asks too often back, each by a name of theirs: a key's id, an address. In this process alone: with several copies
/// each of them gives the whole.
///
/// Bounded: of more names than it has room for, those that asked least lately are forgotten, which only lets them ask anew.
final class RateLimiter: Sendable {
    /// What is told of it, and by which name.
    let policy: String
    private let limit: RateLimit
    private let room: Int
    private typealias Name = Identifier<RateLimiter>
    private let shards: [NIOLockedValueBox<[Name: RateState]>]
    private let start = ContinuousClock.now

    /// - Parameters:
    ///   - policy: as the header fields name it: `key`, `address`.
    ///   - room: for how many names, in all.
    init(_ policy: String, _ limit: RateLimit, room: Int = 65_536, shards: Int = 16) {
        self.policy = policy
        self.limit = limit
        self.room = max(1, room / shards)
        self.shards = (0..<shards).map { _ in NIOLockedValueBox([:]) }
    }

    /// - Returns: how they stand now.
    func take(_ name: String, at now: Duration? = nil) -> RateStanding {
        let (name, now) = (Name(name), now ?? ContinuousClock.now - start)
        let shard = shards[Int(UInt(bitPattern: name.hashValue) % UInt(shards.count))]
        let decision = shard.withLockedValue { states in
            if states[name] == nil, states.count >= room { Self.makeRoom(&states, at: now) }
            return states[name, default: RateState()].take(limit, at: now)
        }
        return RateStanding(policy: policy, limit: limit, decision: decision)
    }

    /// First those that are as if they had never asked; where that frees nothing, half of the others.
    private static func makeRoom(_ states: inout [Name: RateState], at now: Duration) {
        let before = states.count
        states = states.filter { !$0.value.isFull(at: now) }
        guard states.count == before else { return }
        let middle = states.values.map(\.fullAt).sorted()[before / 2]
        states = states.filter { $0.value.fullAt > middle }
    }

    /// Names that are remembered.
    var count: Int { shards.reduce(0) { $0 + $1.withLockedValue { $0.count } } }
}

/// How one stands by one policy, as the header fields tell it (draft-ietf-httpapi-ratelimit-headers).
struct RateStanding: Sendable {
    var policy: String
    var limit: RateLimit
    var decision: RateState.Decision

    var isAllowed: Bool { decision.isAllowed }

    /// `"key";q=100;w=10`
    var policyField: String { "\"\(policy)\";q=\(limit.burst);w=\(limit.windowSeconds)" }

    /// `"key";r=50;t=7`
    var field: String { "\"\(policy)\";r=\(decision.remaining);t=\(Int(decision.reset.seconds.rounded(.up)))" }

    /// - Throws: ``Problem`` 429 where it is too much.
    func check() throws {
        guard !isAllowed else { return }
        throw Problem(
            .rateLimited, "too many requests by this \(policy): wait, and go on more slowly",
            retryAfter: max(1, Int(decision.retryAfter.seconds.rounded(.up))))
    }
}

extension HTTPFields {
    /// Tells how the client stands, by each policy that looked.
    mutating func tell(_ standings: [RateStanding]) {
        guard !standings.isEmpty else { return }
        self[.rateLimitPolicy] = standings.map(\.policyField).joined(separator: ", ")
        self[.rateLimit] = standings.map(\.field).joined(separator: ", ")
    }
}
