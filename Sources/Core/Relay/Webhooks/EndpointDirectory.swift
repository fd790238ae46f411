import NIOConcurrencyHelpers

/// A cache of the endpoints, for callers that need them many times a second. A disabled or removed endpoint is called
/// for at most a second longer.
public final class EndpointDirectory: Sendable {
    private struct Known {
        var endpoints: [WebhookEndpoint]
        var readAt: ContinuousClock.Instant
    }

    private let store: RelayStore
    private let lifetime: Duration
    private let known = NIOLockedValueBox<Known?>(nil)

    public init(store: RelayStore, lifetime: Duration = .seconds(1)) {
        self.store = store
        self.lifetime = lifetime
    }

    /// All endpoints that were not removed.
    public func all() async throws -> [WebhookEndpoint] {
        if let known = known.withLockedValue({ $0 }), known.readAt.duration(to: .now) < lifetime {
            return known.endpoints
        }
        let readAt = ContinuousClock.now
        let endpoints = try await store.webhooks.endpoints(in: .all)
        known.withLockedValue { $0 = Known(endpoints: endpoints, readAt: readAt) }
        return endpoints
    }

    /// Makes the next read go to the database.
    public func forget() {
        known.withLockedValue { $0 = nil }
    }
}
