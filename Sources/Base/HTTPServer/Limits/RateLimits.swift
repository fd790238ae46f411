package import Formats
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore

/// The optional limits of a server's requests: per key and per address.
package struct RateLimits: Sendable {
    let keys: RateLimiter?
    let addresses: RateLimiter?
    let trustedProxies: [AddressRange]

    package init(keys: RateLimiter?, addresses: RateLimiter?, trustedProxies: [AddressRange]) {
        self.keys = keys
        self.addresses = addresses
        self.trustedProxies = trustedProxies
    }

    /// - Throws: ``Problem`` 429.
    func take(_ request: Request, _ context: FrontContext) throws {
        if let quota = takeAddress(of: request.head, context.channel) { try note(quota, context) }
    }

    /// Takes from both limits at once, for a request that will certainly be answered.
    ///
    /// - Returns: nil if a limit is exhausted. Then nothing was taken, except if another request has just taken the
    ///   last one.
    func take(_ head: HTTPRequest, _ channel: any Channel, key: String) -> [RateQuota]? {
        if let keys, !keys.allows(key) { return nil }
        let address = takeAddress(of: head, channel)
        guard address?.isAllowed ?? true else { return nil }
        let quotas = [address, keys?.take(key)].compactMap { $0 }
        return quotas.allSatisfy(\.isAllowed) ? quotas : nil
    }

    /// Nil if addresses are not limited.
    private func takeAddress(of head: HTTPRequest, _ channel: any Channel) -> RateQuota? {
        guard let addresses else { return nil }
        let address = ClientAddress.find(
            peer: channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) },
            forwardedFor: head.headerFields[.xForwardedFor], trusted: trustedProxies)
        return address.map { addresses.take(Self.name(of: $0)) }
    }

    /// Name of a client. An IPv6 client has a whole network, so its first 64 bits count.
    private static func name(of address: IPAddress) -> String {
        address.bytes.count == 4 ? "\(address)" : Hex.text(of: Array(address.bytes.prefix(8)))
    }

    /// - Throws: ``Problem`` 429.
    package func take(key id: String, _ context: FrontContext) throws {
        guard let keys else { return }
        try note(keys.take(id), context)
    }

    private func note(_ quota: RateQuota, _ context: FrontContext) throws {
        context.notes.add(quota)
        try quota.check()
    }
}

/// Limits requests by name: a key's id, or an address. Each process counts by itself, so the limit holds for each copy.
///
/// The number of names is bounded. Beyond it, names with the fewest recent requests are evicted, which only gives them
/// a fresh limit.
package final class RateLimiter: Sendable {
    /// Name of the policy in `RateLimit` fields and metrics.
    let policy: String
    private let limit: RateLimit
    private let capacity: Int

    /// Compared by its bytes.
    private struct Name: Hashable {
        let text: String

        static func == (one: Name, other: Name) -> Bool { one.text.isSame(other.text) }

        func hash(into hasher: inout Hasher) {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    private let shards: [NIOLockedValueBox<[Name: RateState]>]
    private let start = ContinuousClock.now

    /// - Parameters:
    ///   - policy: name in the header fields: `key`, `address`.
    ///   - capacity: total number of names.
    package init(_ policy: String, _ limit: RateLimit, capacity: Int = 65_536, shards: Int = 16) {
        self.policy = policy
        self.limit = limit
        self.capacity = max(1, capacity / shards)
        self.shards = (0..<shards).map { _ in NIOLockedValueBox([:]) }
    }

    /// - Returns: the client's state after this request.
    package func take(_ name: String, at now: Duration? = nil) -> RateQuota {
        let (name, now) = (Name(text: name), now ?? ContinuousClock.now - start)
        let shard = shard(name)
        let decision = shard.withLockedValue { states in
            if states[name] == nil, states.count >= capacity { Self.evict(&states, at: now) }
            return states[name, default: RateState()].take(limit, at: now)
        }
        return RateQuota(policy: policy, limit: limit, decision: decision)
    }

    /// Whether a request would be allowed now. Takes nothing.
    func allows(_ name: String, at now: Duration? = nil) -> Bool {
        let (name, now) = (Name(text: name), now ?? ContinuousClock.now - start)
        var state = shard(name).withLockedValue { $0[name] } ?? RateState()
        return state.take(limit, at: now).isAllowed
    }

    private func shard(_ name: Name) -> NIOLockedValueBox<[Name: RateState]> {
        shards[Int(UInt(bitPattern: name.hashValue) % UInt(shards.count))]
    }

    /// Evicts names whose limit is fully available; if there are none, half of all names.
    private static func evict(_ states: inout [Name: RateState], at now: Duration) {
        let before = states.count
        states = states.filter { !$0.value.isFull(at: now) }
        guard states.count == before else { return }
        let middle = states.values.map(\.fullAt).sorted()[before / 2]
        states = states.filter { $0.value.fullAt > middle }
    }

    /// Number of stored names.
    var count: Int { shards.reduce(0) { $0 + $1.withLockedValue { $0.count } } }
}

/// A client's state under one policy, for the header fields (draft-ietf-httpapi-ratelimit-headers).
package struct RateQuota: Sendable {
    var policy: String
    var limit: RateLimit
    var decision: RateState.Decision

    var isAllowed: Bool { decision.isAllowed }

    /// `"key";q=100;w=10`
    var policyField: String { "\"\(policy)\";q=\(limit.burst);w=\(limit.windowSeconds)" }

    /// `"key";r=50;t=7`
    var field: String { "\"\(policy)\";r=\(decision.remaining);t=\(Int(decision.reset.seconds.rounded(.up)))" }

    /// - Throws: ``Problem`` 429 if the limit is exceeded.
    package func check() throws {
        guard !isAllowed else { return }
        throw Problem(
            .rateLimited, "too many requests by this \(policy): wait, and go on more slowly",
            retryAfter: max(1, Int(decision.retryAfter.seconds.rounded(.up))))
    }
}

extension HTTPFields {
    /// Adds the client's state under each applied policy.
    mutating func setRateLimits(_ quotas: [RateQuota]) {
        guard !quotas.isEmpty else { return }
        self[.rateLimitPolicy] = quotas.map(\.policyField).joined(separator: ", ")
        self[.rateLimit] = quotas.map(\.field).joined(separator: ", ")
    }
}
