import NIOConcurrencyHelpers
import RelayCore
import RelayStore

/// How things stand, read once a second for all who may see the same.
struct ScopedSummaries: Sendable {
    let store: RelayStore
    private let recent = NIOLockedValueBox<[PublisherID?: Recent<OpsSummary>]>([:])

    init(store: RelayStore) {
        self.store = store
    }

    func value(in scope: OpsScope) async throws -> OpsSummary {
        let recent = recent.withLockedValue { [store] known in
            if let one = known[scope.publisher] { return one }
            let one = Recent { try await store.summary(isCounting: false, in: scope) }
            known[scope.publisher] = one
            return one
        }
        return try await recent.value()
    }
}
