import NIOConcurrencyHelpers
package import RelayCore

/// Asks stores other than Apple's while an app waits. It bounds the number of simultaneous questions, and finishes each
/// even if the app disconnects.
///
/// Each publisher has a share of its own at each store, so that one slow account delays no other.
package final class StoreGate: Sendable {
    /// Limits of one process. Each question ends within seconds.
    struct Limits: Sendable {
        /// Limit of one publisher at one store.
        var ofShare = 64
        var ofAll = 1_024
    }

    private struct Share: Hashable {
        var publisher: PublisherID
        var store: StorePlatform
    }

    private struct State {
        var questions = 0
        var ofShares: [Share: Int] = [:]
        var underWay = 0
        var drains: [CheckedContinuation<Void, Never>] = []
    }

    private let stores: PerPublisher<[StorePlatform: any ExternalStore]>
    private let limits: Limits
    private let state = NIOLockedValueBox(State())

    init(_ stores: PerPublisher<[StorePlatform: any ExternalStore]>, limits: Limits = Limits()) {
        self.stores = stores
        self.limits = limits
    }

    /// Number of questions under way.
    var questions: Int { state.withLockedValue { $0.questions } }

    /// Asks a store. Above a limit it answers as if the store was unavailable, since nothing queues. The answer is
    /// the same if only other copies have the publisher's access to the stores.
    package func ask(_ query: ExternalStoreQuery, of publisher: PublisherID) async -> ExternalStoreAnswer {
        guard let stores = stores[publisher] else { return .tryAgain(after: .seconds(5)) }
        guard let store = stores[query.platform] else { return .notConfigured }
        let share = Share(publisher: publisher, store: query.platform)
        let hasPlace = state.withLockedValue { state in
            let ofShare = state.ofShares[share, default: 0]
            guard state.questions < limits.ofAll, ofShare < limits.ofShare else { return false }
            state.questions += 1
            state.ofShares[share] = ofShare + 1
            return true
        }
        guard hasPlace else { return .tryAgain(after: .seconds(1)) }
        defer {
            state.withLockedValue { state in
                state.questions -= 1
                state.ofShares[share] = state.ofShares[share].flatMap { $0 > 1 ? $0 - 1 : nil }
            }
        }
        return await store.find(query)
    }

    /// Runs work in its own task, which continues if the caller is cancelled.
    ///
    /// - Parameter work: must end within seconds.
    package func finish<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        state.withLockedValue { $0.underWay += 1 }
        let task = Task {
            defer { ended() }
            return try await work()
        }
        return try await task.value
    }

    /// Waits until all work under way has ended.
    func drain() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLockedValue { state in
                if state.underWay == 0 { return true }
                state.drains.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
    }

    private func ended() {
        let drains = state.withLockedValue { state -> [CheckedContinuation<Void, Never>] in
            state.underWay -= 1
            guard state.underWay == 0 else { return [] }
            defer { state.drains = [] }
            return state.drains
        }
        for drain in drains { drain.resume() }
    }
}
