import NIOConcurrencyHelpers
import RelayCore

/// Asks other stores than Apple's while an app waits: a bounded number of questions at once, and what was begun is
/// ended, even if the app leaves.
final class StoreGate: Sendable {
    /// In one process. Each is over within seconds.
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

    /// Questions that are being asked now.
    var questions: Int { state.withLockedValue { $0.questions } }

    /// Where too many are asked already, it is as if the store was away: nothing queues. So too where others have the publisher's
    /// way to the stores.
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

    /// Runs work in a task of its own: it continues if the caller is cancelled.
    ///
    /// - Parameter work: ends within seconds.
    func finish<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        state.withLockedValue { $0.underWay += 1 }
        let task = Task {
            defer { ended() }
            return try await work()
        }
        return try await task.value
    }

    /// Waits until all that was begun is ended.
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
