import Foundation
import NIOConcurrencyHelpers
import RelayCore

/// The addresses of host names, for as long as they may be believed.
///
/// A name that is asked for by many at once is looked up once, on a thread of its own: a name server that does not answer holds
/// up nobody but those who asked for that name.
final class HostDirectory: Sendable {
    typealias Lookup = @Sendable (String) -> [IPAddress]
    private typealias Waiter = CheckedContinuation<[IPAddress], any Error>

    private struct State {
        var known: [String: Known] = [:]
        var waiting: [String: [UInt64: Waiter]] = [:]
        var lastID: UInt64 = 0
    }

    private struct Known {
        var addresses: [IPAddress]
        var until: ContinuousClock.Instant
    }

    /// Names that are being looked up; names that are remembered.
    private static let mostLookups = 64
    private static let mostKnown = 1_024
    /// A name that has no address now may have one in a moment.
    private static let emptyLifetime = Duration.seconds(1)

    private let lifetime: Duration
    private let lookup: Lookup
    private let state = NIOLockedValueBox(State())

    init(lifetime: Duration = .seconds(30), lookup: @escaping Lookup = HostLookup.addresses) {
        self.lifetime = lifetime
        self.lookup = lookup
    }

    /// - Throws: ``WebhookTrouble``, where there are none, or the task is cancelled meanwhile.
    func addresses(of host: String) async throws -> [IPAddress] {
        // An address written as one needs no look-up.
        if let address = IPAddress(host) { return [address] }
        let id = state.withLockedValue { state in
            state.lastID += 1
            return state.lastID
        }
        let found = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { ask(host, id, $0) }
        } onCancel: {
            let waiter = state.withLockedValue { $0.waiting[host]?.removeValue(forKey: id) }
            waiter?.resume(throwing: WebhookTrouble(.cancelled))
        }
        guard !found.isEmpty else { throw WebhookTrouble(.unresolved) }
        return found
    }

    private enum Answer {
        case known([IPAddress])
        case trouble(WebhookTrouble.Code)
        case wait(starts: Bool)
    }

    private func ask(_ host: String, _ id: UInt64, _ waiter: Waiter) {
        let isCancelled = Task.isCancelled
        let answer: Answer = state.withLockedValue { state in
            if let known = state.known[host], known.until > .now { return .known(known.addresses) }
            // The handler may have run before there was a waiter.
            if isCancelled { return .trouble(.cancelled) }
            let isRunning = state.waiting[host] != nil
            guard isRunning || state.waiting.count < Self.mostLookups else { return .trouble(.busyResolving) }
            state.waiting[host, default: [:]][id] = waiter
            return .wait(starts: !isRunning)
        }
        switch answer {
        case .known(let addresses): waiter.resume(returning: addresses)
        case .trouble(let code): waiter.resume(throwing: WebhookTrouble(code))
        case .wait(starts: true):
            Thread.detachNewThread { [self] in
                heard(lookup(host), of: host)
            }
        case .wait(starts: false): break
        }
        guard Task.isCancelled, !isCancelled else { return }
        let late = state.withLockedValue { $0.waiting[host]?.removeValue(forKey: id) }
        late?.resume(throwing: WebhookTrouble(.cancelled))
    }

    private func heard(_ addresses: [IPAddress], of host: String) {
        let until = ContinuousClock.now + (addresses.isEmpty ? min(Self.emptyLifetime, lifetime) : lifetime)
        let waiters = state.withLockedValue { state in
            if state.known.count >= Self.mostKnown { state.known.removeAll() }
            state.known[host] = Known(addresses: addresses, until: until)
            return state.waiting.removeValue(forKey: host) ?? [:]
        }
        for waiter in waiters.values { waiter.resume(returning: addresses) }
    }
}
