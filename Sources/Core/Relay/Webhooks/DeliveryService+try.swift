import Logging
import Metrics
import RelayCore
import Webhooks

extension DeliveryService {
    /// Sends a message once, and records the result.
    func attempt(_ claimed: ClaimedDelivery, _ permit: EndpointPermit) async throws {
        guard !claimed.isOvertaken else {
            return try await write(
                DeliveryRecord(claimed, .failed, error: "overtaken by a newer state while it was being sent"))
        }
        guard let body = claimed.body?.value else {
            logger.error("a message went before it could be delivered: it is no longer kept")
            return try await write(DeliveryRecord(claimed, .failed, error: "it is no longer kept"))
        }
        // The publisher was just given its own account: copies that have it continue.
        guard let credentials = credentials[permit.endpoint.publisher] else { throw CancellationError() }
        let message = credentials.message(id: claimed.id, stored: body, first: claimed.mark)
        // After a suspension, the process must check its lease: another copy may have sent a newer state.
        guard leases.with({ $0.covers(claimed.lease) }) else { throw CancellationError() }
        let result = await client.send(
            message, to: permit.endpoint.url, with: credentials, of: permit.endpoint.publisher,
            at: store.memory.clock.now)
        try await ended(result, claimed, permit)
    }

    private func ended(_ result: WebhookResult, _ claimed: ClaimedDelivery, _ permit: EndpointPermit) async throws {
        Counter(label: "relay_webhook_tries", dimensions: [("result", result.verdict.rawValue)]).increment()
        breakers.end(permit.breaker, CallResult(result, subject: claimed.lane.hashValue))
        guard
            let outcome = DeliveryOutcome(
                result, tries: claimed.tries, retries: settings.retries, jitter: .random(in: 0..<1))
        else {
            guard result.verdict == .postponed else { throw CancellationError() }
            return try await store.queues.giveBack([claimed.row], after: settings.postponedFor)
        }
        Timer(label: "relay_webhook_duration").record(duration: result.latency)
        logger.debug(
            "a message was sent to an endpoint",
            metadata: [
                "endpoint": "\(claimed.endpoint)", "delivery": "\(claimed.id)", "result": "\(result.verdict.rawValue)",
                "upstream_status": "\(result.status.map(String.init) ?? "none")", "try": "\(claimed.tries)",
                "duration_ms": .stringConvertible(result.latency / .milliseconds(1)),
            ])
        // In a task of its own: cancellation of the current task would cancel the statement.
        try await Task {
            do {
                try await note(result.verdict, of: claimed)
            } catch {
                logger.warning("how an endpoint does could not be written", metadata: ["error": "\(error)"])
            }
            try await write(DeliveryRecord(claimed, outcome, status: result.status, error: result.error))
        }.value
    }

    private func write(_ record: DeliveryRecord) async throws {
        switch try await recorder.record(record) {
        case .written(.waiting): break
        case .written(let state):
            Counter(label: "relay_webhook_deliveries", dimensions: [("state", state.name)]).increment()
        case .leaseLost:
            Counter(label: "relay_writes_fenced_off").increment()
            logger.warning("a message's lease had passed on when its try ended")
        }
    }
}

extension CallResult {
    /// Nil if the try says nothing about the endpoint.
    fileprivate init?(_ result: WebhookResult, subject: Int) {
        switch result.verdict {
        case .cancelled, .postponed: return nil
        case .delivered: self.init(.success, subject: subject)
        case .failed, .gone, .refused:
            let concernsAll = result.status == 429 || result.status == 503
            self.init(
                .failure(result.error ?? "failed"), subject: subject, retryAfter: concernsAll ? result.retryAfter : nil)
        }
    }
}
