public import RelayCore
public import Webhooks

extension Act<EndpointID> {
    /// Adds an endpoint of a publisher. A second one with the same URL would get every message twice.
    public static func addEndpoint(
        url: String, of publisher: PublisherID, environment: WebhookEnvironment
    ) -> Self {
        Act(.endpointAdded) { store, _, _ in
            try await store.check(publisher)
            if let other = try await store.webhooks.endpoint(url: url, of: publisher) {
                throw ActRefusal.endpointExists(other.id)
            }
            guard
                let id = try await store.webhooks.addEndpoint(publisher: publisher, url: url, environment: environment)
            else {
                throw ActRefusal.unknown(.publisher)
            }
            return (id, Record("\(id)", of: publisher, remark: "of \(publisher)"))
        }
    }
}

extension Act<WebhookEndpoint> {
    /// Removes an endpoint and drops its waiting messages. The outcome is the endpoint before its removal.
    public static func remove(_ id: EndpointID) -> Self {
        Act(.endpointRemoved) { store, actor, _ in
            guard let endpoint = try await store.webhooks.endpoint(id, in: actor.scope),
                try await store.webhooks.removeEndpoint(id)
            else { throw ActRefusal.unknown(.endpoint) }
            return (endpoint, Record("\(id)", of: endpoint.publisher))
        }
    }
}

extension Act<Void> {
    /// Makes an endpoint active again, unless another one with its URL is. Messages that were dropped in the meantime
    /// stay dropped.
    public static func enable(_ id: EndpointID) -> Self {
        Act(.endpointEnabled) { store, actor, _ in
            if let endpoint = try await store.webhooks.endpoint(id, in: actor.scope), !endpoint.isActive,
                endpoint.kind == .purchases,
                let other = try await store.webhooks.endpoint(url: endpoint.url, of: endpoint.publisher),
                other.isActive,
                other.environment == endpoint.environment
            {
                throw ActRefusal.endpointExists(other.id)
            }
            guard let publisher = try await store.webhooks.enableEndpoint(id, in: actor.scope) else {
                throw ActRefusal.unknown(.endpoint)
            }
            return ((), Record("\(id)", of: publisher))
        }
    }

    /// Disables an endpoint and drops its waiting messages. A disabled endpoint stays as it is.
    public static func disable(_ id: EndpointID) -> Self {
        Act(.endpointDisabled) { store, actor, _ in
            if let publisher = try await store.webhooks.disableEndpoint(id, .operator, in: actor.scope) {
                return ((), Record("\(id)", of: publisher))
            }
            guard try await store.webhooks.endpoint(id, in: actor.scope) != nil else {
                throw ActRefusal.unknown(.endpoint)
            }
            return ((), nil)
        }
    }
}

extension LongAct<WebhookResult> {
    /// Sends an endpoint a test message. If a disabled endpoint answers 2xx, it is enabled again, with an audit row of
    /// its own, unless another one with its URL is active.
    public static func test(
        _ endpoint: WebhookEndpoint, _ client: WebhookClient, _ credentials: WebhookCredentials
    ) -> Self {
        LongAct(.endpointTested) { work in
            try await work.recorded("\(endpoint.id)", of: endpoint.publisher) {
                let result = await client.send(
                    credentials.testMessage(), to: endpoint.url, with: credentials, of: endpoint.publisher,
                    at: work.store.memory.clock.now)
                if result.verdict == .delivered {
                    if !endpoint.isActive {
                        do {
                            try await Operations(store: work.store).perform(
                                .enable(endpoint.id), by: work.actor, reason: "it takes the test message")
                        } catch ActRefusal.endpointExists(let other) {
                            return (result, "\(result.verdict.rawValue), but \(other) has its URL")
                        }
                    }
                    _ = try await work.store.webhooks.note(.succeeded, of: endpoint.id)
                }
                return (result, result.verdict.rawValue)
            }
        }
    }
}
