import Foundation
import NIOConcurrencyHelpers

/// A service of several copies, its database and its upstream, with the functions that disturb them.
final class ChaosScene: Sendable {
    private struct Copy {
        var role: String
        var settings: [String: String]
        /// `nil` while it is dead.
        var relay: Relay?
    }

    let day: BadDay
    let cluster: PrivateCluster
    /// Replaces the cluster if a primary is lost.
    let pair: ServerPair?
    /// A line for each copy if the network is disturbed; empty otherwise.
    let lines: [DatabaseLine]
    private let copies = NIOLockedValueBox<[Copy]>([])
    /// Behaviour of the upstream: calls take a while, so that a fault strikes during some of them.
    static let usualPace = "slow-100ms"

    init(_ day: BadDay, cluster: PrivateCluster, pair: ServerPair? = nil, strike: Strike) async throws {
        self.day = day
        self.cluster = cluster
        self.pair = pair
        var lines: [DatabaseLine] = []
        if strike.isOfNetwork { for _ in strike.roles { lines.append(try await DatabaseLine(to: cluster.port)) } }
        self.lines = lines
        try await day.control.trouble(Self.usualPace)
        let clock = try await strike.clockError.asyncMap(WrongClock.settings(error:))
        let made = strike.roles.enumerated().map { index, role in
            var settings = index == 1 ? clock ?? [:] : [:]
            if strike.isOfNetwork { settings["RELAY_DATABASE_URL"] = lines[index].url(of: day.database) }
            return Copy(role: role, settings: settings)
        }
        copies.withLockedValue { $0 = made }
        try await startAll()
        if let error = strike.clockError, let wrong = relay(1) { try WrongClock.check(wrong, error: error) }
    }

    /// A scene for tests that apply faults themselves.
    init(_ day: BadDay, cluster: PrivateCluster, roles: [String]) async throws {
        self.day = day
        self.cluster = cluster
        (pair, lines) = (nil, [])
        try await day.control.trouble(Self.usualPace)
        copies.withLockedValue { $0 = roles.map { Copy(role: $0, settings: [:]) } }
        try await startAll()
    }

    deinit { for line in lines { line.end() } }

    var count: Int { copies.withLockedValue { $0.count } }

    func relay(_ index: Int) -> Relay? { copies.withLockedValue { $0[index].relay } }

    /// A copy that accepts purchases now, a different one for each turn; `nil` if none is alive.
    func front(_ turn: Int) -> Relay? {
        let alive = copies.withLockedValue { $0.compactMap(\.relay).filter { !$0.url.isEmpty } }
        return alive.isEmpty ? nil : alive[turn % alive.count]
    }

    // MARK: Copies

    func kill(_ index: Int) async -> Date {
        let victim = copies.withLockedValue { copies in
            defer { copies[index].relay = nil }
            return copies[index].relay
        }
        victim?.process.signal(SIGKILL)
        let moment = Date()
        _ = await victim?.process.exitCode()
        return moment
    }

    func restart(_ index: Int) async throws {
        let copy = copies.withLockedValue { $0[index] }
        let relay = try await day.relay(role: copy.role, settings: copy.settings)
        copies.withLockedValue { $0[index].relay = relay }
    }

    func killAll() async -> Date {
        let victims = copies.withLockedValue { copies in
            defer { for index in copies.indices { copies[index].relay = nil } }
            return copies.compactMap(\.relay)
        }
        for victim in victims { victim.process.signal(SIGKILL) }
        let moment = Date()
        for victim in victims { _ = await victim.process.exitCode() }
        return moment
    }

    func startAll() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<count { group.addTask { try await self.restart(index) } }
            try await group.waitForAll()
        }
    }
}

extension Optional {
    fileprivate func asyncMap<T>(_ transform: (Wrapped) async throws -> T) async rethrows -> T? {
        if let value = self { try await transform(value) } else { nil }
    }
}
