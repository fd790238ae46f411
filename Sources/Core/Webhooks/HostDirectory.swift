import Formats
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import RelayCore

/// A cache of the addresses of host names.
///
/// Concurrent callers for one name share one lookup, on a thread of its own. The threads are divided among publishers,
/// so that one publisher's dead names do not block the others. Expired addresses are used while the name is looked up
/// again.
final class HostDirectory: Sendable {
    /// Blocks. Empty if the name has no address; nil if no name server could be reached.
    typealias Lookup = @Sendable (String) -> [IPAddress]?
    private typealias Answer = Result<[IPAddress], WebhookTrouble>
    private typealias Waiter = CheckedContinuation<Answer, Never>

    private struct State {
        var known: [String: Known] = [:]
        var running: [String: Running] = [:]
        var lastID: UInt64 = 0
    }

    private struct Known {
        var addresses: [IPAddress]
        var until: ContinuousClock.Instant
        /// Until this time, expired addresses are used if there are no newer ones.
        var servesUntil: ContinuousClock.Instant
    }

    /// A lookup in progress. It ends when its thread does, with or without waiters.
    private struct Running {
        /// The publisher whose share of the threads it uses.
        var publisher: PublisherID
        var waiters: [UInt64: Waiter] = [:]
    }

    private static let mostKnown = 1_024
    /// Short, because a name without an address may get one at any moment.
    private static let emptyLifetime = Duration.seconds(1)

    private let lifetime: Duration
    private let staleFor: Duration
    private let capacity: EndpointCapacity
    private let lookup: Lookup
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - lifetime: how long an answer is fresh.
    ///   - staleFor: how long an expired answer is used if there is no newer one.
    ///   - capacity: limits of concurrent lookups, in total and for one publisher.
    init(
        lifetime: Duration = .seconds(30), staleFor: Duration = .seconds(600),
        capacity: EndpointCapacity = EndpointCapacity(places: 256, perEndpoint: 32),
        lookup: @escaping Lookup = HostLookup.addresses
    ) {
        self.lifetime = lifetime
        self.staleFor = staleFor
        self.capacity = capacity
        self.lookup = lookup
    }

    /// - Parameters:
    ///   - publisher: owner of the endpoint, whose share of the threads a lookup uses.
    ///   - deadline: nil waits until the lookup ends.
    /// - Throws: if there is no address, no thread is free, the deadline passes, or the task is cancelled.
    func addresses(
        of host: String, for publisher: PublisherID, by deadline: ContinuousClock.Instant? = nil
    ) async throws(WebhookTrouble) -> [IPAddress] {
        // A literal address needs no lookup.
        if let address = IPAddress(host) { return [address] }
        let id = state.withLockedValue { state in
            state.lastID += 1
            return state.lastID
        }
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { ask(host, publisher, id, by: deadline, $0) }
        } onCancel: {
            giveUp(id, of: host, .cancelled)
        }
        let found = try answer.get()
        guard !found.isEmpty else { throw WebhookTrouble.unresolved }
        return found
    }

    private func giveUp(_ id: UInt64, of host: String, _ trouble: WebhookTrouble) {
        let waiter = state.withLockedValue { $0.running[host]?.waiters.removeValue(forKey: id) }
        waiter?.resume(returning: .failure(trouble))
    }

    private func ask(
        _ host: String, _ publisher: PublisherID, _ id: UInt64, by deadline: ContinuousClock.Instant?, _ waiter: Waiter
    ) {
        let isCancelled = Task.isCancelled
        // A nil answer means that the caller waits.
        let (answer, starts): (Answer?, Bool) = state.withLockedValue { state in
            let now = ContinuousClock.now
            let known = state.known[host]
            if let known, known.until > now { return (.success(known.addresses), false) }
            // The cancellation handler may have run before the waiter was registered.
            if isCancelled { return (.failure(WebhookTrouble.cancelled), false) }
            let own = state.running.values.count { $0.publisher == publisher }
            let starts = state.running[host] == nil && capacity.available(taken: state.running.count, own: own) > 0
            if starts { state.running[host] = Running(publisher: publisher) }
            if let known, known.servesUntil > now { return (.success(known.addresses), starts) }
            guard state.running[host] != nil else { return (.failure(WebhookTrouble.busyResolving), false) }
            state.running[host]?.waiters[id] = waiter
            return (nil, starts)
        }
        if starts { Thread.detachNewThread { [self] in ended(lookup(host), of: host) } }
        if let answer { return waiter.resume(returning: answer) }
        if let deadline {
            let left = TimeAmount(max(.zero, ContinuousClock.now.duration(to: deadline)))
            MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: left) { [self] in
                giveUp(id, of: host, .timeout)
            }
        }
        guard Task.isCancelled, !isCancelled else { return }
        giveUp(id, of: host, .cancelled)
    }

    private func ended(_ found: [IPAddress]?, of host: String) {
        let (waiters, addresses) = state.withLockedValue { state in
            let now = ContinuousClock.now
            let waiters = state.running.removeValue(forKey: host)?.waiters ?? [:]
            if found == nil, var known = state.known[host], known.servesUntil > now {
                known.until = now + Self.emptyLifetime
                state.known[host] = known
                return (waiters, known.addresses)
            }
            let addresses = found ?? []
            let until = now + (addresses.isEmpty ? min(Self.emptyLifetime, lifetime) : lifetime)
            if state.known.count >= Self.mostKnown { state.known.removeAll() }
            state.known[host] = Known(
                addresses: addresses, until: until, servesUntil: addresses.isEmpty ? until : until + staleFor)
            return (waiters, addresses)
        }
        for waiter in waiters.values { waiter.resume(returning: .success(addresses)) }
    }
}
