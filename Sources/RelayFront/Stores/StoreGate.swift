import NIOConcurrencyHelpers
import RelayCore

/// Asks stores other than Apple's while an app waits. It bounds the number of simultaneous questions, and finishes each
/// even if the app disconnects.
final class StoreGate: Sendable {
    /// Bound of one process. Each question ends within seconds.
    static let mostQuestions = 64

    private struct State {
        var questions = 0
        var underWay = 0
        var drains: [CheckedContinuation<Void, Never>] = []
    }

    private let stores: PerPublisher<[StorePlatform: any ExternalStore]>
    private let most: Int
    private let state = NIOLockedValueBox(State())

    init(_ stores: PerPublisher<[StorePlatform: any ExternalStore]>, most: Int = mostQuestions) {
        self.stores = stores
        self.most = most
    }

    /// Number of questions under way.
    var questions: Int { state.withLockedValue { $0.questions } }

    /// Asks a store. Above the bound it answers as if the store was unavailable, since nothing queues. The answer is
    /// the same if only other copies have the publisher's access to the stores.
    func ask(_ query: ExternalStoreQuery, of publisher: PublisherID) async -> ExternalStoreAnswer {
        guard let stores = stores[publisher] else { return .tryAgain(after: .seconds(5)) }
        guard let store = stores[query.platform] else { return .notConfigured }
        let hasPlace = state.withLockedValue { state in
            guard state.questions < most else { return false }
            state.questions += 1
            return true
        }
        guard hasPlace else { return .tryAgain(after: .seconds(1)) }
        defer { state.withLockedValue { $0.questions -= 1 } }
        return await store.find(query)
    }

    /// Runs work in its own task, which continues if the caller is cancelled.
    ///
    /// - Parameter work: must end within seconds.
    func finish<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
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
