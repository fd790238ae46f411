import Foundation
import NIOConcurrencyHelpers
import RelayCore

/// The addresses of host names, for as long as they may be believed.
///
/// A name that is asked for by many at once is looked up once, on a thread of its own. Threads are shared out among publishers, so that
/// one publisher's dead names leave the others theirs. Addresses whose time is over serve while the name is looked up anew.
final class HostDirectory: Sendable {
    /// Blocks. Empty where the name has no address; nil where nobody who knows could be asked.
    typealias Lookup = @Sendable (String) -> [IPAddress]?
    private typealias Waiter = CheckedContinuation<[IPAddress], any Error>

    private struct State {
        var known: [String: Known] = [:]
        var running: [String: Running] = [:]
        var lastID: UInt64 = 0
    }

    private struct Known {
        var addresses: [IPAddress]
        var until: ContinuousClock.Instant
        /// Until then they serve where there are no newer ones yet.
        var servesUntil: ContinuousClock.Instant
    }

    /// A look-up under way. It ends when its thread does, whoever still waits for it.
    private struct Running {
        /// On whose account it is.
        var publisher: PublisherID
        var waiters: [UInt64: Waiter] = [:]
    }

    private static let mostKnown = 1_024
    /// A name that has no address now may have one in a moment.
    private static let emptyLifetime = Duration.seconds(1)

    private let lifetime: Duration
    private let staleFor: Duration
    private let rooms: EndpointRooms
    private let lookup: Lookup
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - lifetime: of an answer.
    ///   - staleFor: how long after that it serves while there is no newer one.
    ///   - rooms: how many names are looked up at once, in all and of one publisher.
    init(
        lifetime: Duration = .seconds(30), staleFor: Duration = .seconds(600),
        rooms: EndpointRooms = EndpointRooms(places: 256, perEndpoint: 32),
        lookup: @escaping Lookup = HostLookup.addresses
    ) {
        self.lifetime = lifetime
        self.staleFor = staleFor
        self.rooms = rooms
        self.lookup = lookup
    }

    /// - Parameter publisher: who has named the host.
    /// - Throws: ``WebhookTrouble``, where there are none, nobody may look now, or the task is cancelled meanwhile.
    func addresses(of host: String, for publisher: PublisherID) async throws -> [IPAddress] {
        // An address written as one needs no look-up.
        if let address = IPAddress(host) { return [address] }
        let id = state.withLockedValue { state in
            state.lastID += 1
            return state.lastID
        }
        let found = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { ask(host, publisher, id, $0) }
        } onCancel: {
            remove(id, of: host)?.resume(throwing: WebhookTrouble(.cancelled))
        }
        guard !found.isEmpty else { throw WebhookTrouble(.unresolved) }
        return found
    }

    private func remove(_ id: UInt64, of host: String) -> Waiter? {
        state.withLockedValue { $0.running[host]?.waiters.removeValue(forKey: id) }
    }

    private func ask(_ host: String, _ publisher: PublisherID, _ id: UInt64, _ waiter: Waiter) {
        let isCancelled = Task.isCancelled
        // Nil: the waiter waits.
        let (answer, starts): (Result<[IPAddress], any Error>?, Bool) = state.withLockedValue { state in
            let now = ContinuousClock.now
            let known = state.known[host]
            if let known, known.until > now { return (.success(known.addresses), false) }
            // The handler may have run before there was a waiter.
            if isCancelled { return (.failure(WebhookTrouble(.cancelled)), false) }
            let own = state.running.values.count { $0.publisher == publisher }
            let starts = state.running[host] == nil && rooms.room(taken: state.running.count, own: own) > 0
            if starts { state.running[host] = Running(publisher: publisher) }
            if let known, known.servesUntil > now { return (.success(known.addresses), starts) }
            guard state.running[host] != nil else { return (.failure(WebhookTrouble(.busyResolving)), false) }
            state.running[host]?.waiters[id] = waiter
            return (nil, starts)
        }
        if starts { Thread.detachNewThread { [self] in ended(lookup(host), of: host) } }
        if let answer { return waiter.resume(with: answer) }
        guard Task.isCancelled, !isCancelled else { return }
        remove(id, of: host)?.resume(throwing: WebhookTrouble(.cancelled))
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
        for waiter in waiters.values { waiter.resume(returning: addresses) }
    }
}
