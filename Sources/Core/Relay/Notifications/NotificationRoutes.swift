import HTTPServer
import Hummingbird
import Logging
import RelayCore
import StoreSignals

/// Routes of the stores' notifications. They need no key: the store's signature proves a notification.
///
/// Apple and others give up after a 4xx and try again after a 5xx. So a final refusal is a 4xx, and a temporary failure
/// never is.
struct NotificationRoutes: Sendable {
    let store: RelayStore
    let sources: [any NotificationSource]
    let isRelayed: PerPublisher<Bool>
    let bodies: BodyReader
    let budget: BodyBudget
    let metrics: NotificationMetrics
    let logger: Logger

    var routes: [Route] {
        sources.map { source in
            .post(source.store.notificationPath) { request, _ in try await receive(request, from: source) }
        }
    }

    private func receive(_ request: Request, from source: any NotificationSource) async throws -> Response {
        do {
            let (outcome, notification) = try await take(request, from: source)
            metrics.count(
                outcome == .stored ? "stored" : "repeated", of: source.store, version: notification.version)
            if let warning = source.warning(about: notification), metrics.mayLogRefusal() { logger.warning(warning) }
            return source.answer(to: notification)
        } catch let refusal as NotificationRefusal {
            metrics.count(refusal.code, of: source.store)
            // Not every refusal is logged: a flood of forged notifications must not fill the disk.
            if metrics.mayLogRefusal() {
                logger.warning(
                    "a notification is refused",
                    metadata: [
                        "store": "\(source.store.rawValue)", "code": "\(refusal.code)", "detail": "\(refusal.detail)",
                    ])
            }
            throw Problem(.notificationNotGenuine, "\(refusal.code): \(refusal.detail)")
        } catch let error as SignalError {
            metrics.count("not_a_notification", of: source.store)
            throw Problem(error.kind == .notJSON ? .notJSON : .notANotification, error.detail)
        } catch let problem as Problem where problem.code.retryAfterSeconds == nil {
            // The body is too large, or is not a notification in JSON.
            metrics.count("not_a_notification", of: source.store)
            throw problem
        } catch {
            // A temporary failure: the store tries again.
            metrics.count("failed", of: source.store)
            throw error
        }
    }

    private func take(
        _ request: Request, from source: any NotificationSource
    ) async throws -> (ReceiveOutcome, StoreNotification) {
        let now = try store.memory.clock.required()
        // The publisher's account decides whether the notification is forwarded to Cleeng.
        try await store.publishers.accountsReady()
        try await source.admit(request.headers, now: now)
        // Released after the commit.
        let loan = BodyLoan(budget)
        defer { loan.end() }
        let body = try await bodies.read(request, on: loan, ofAnyType: true)
        let bytes = Array(body.readableBytesView)
        let notification = try await source.read(bytes, now: now)
        let received = ReceivedNotification(notification, body: bytes, isRelayed: isRelayed)
        let outcome = try await store.notifications.receive(received, now: now)
        if outcome == .stored { store.memory.signal(.notifications) }
        try await source.wasTaken(notification, Operations(store: store), logger)
        return (outcome, notification)
    }
}
