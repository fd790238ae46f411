import AppleStore
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import RelayCore
import RelayStore

/// `POST /apple/notifications`: what the App Store tells of its own accord. It has no key: what it signs, or the secret that
/// we share, is what lets it in.
///
/// Apple takes a 4xx for final and comes again after a 5xx: what is refused here is refused for good, and nothing that may
/// pass is.
struct NotificationRoutes: Sendable {
    let store: RelayStore
    let policy: NotificationPolicy
    let isRelayed: PerPublisher<Bool>
    let leeway: Duration
    let bodies: BodyReader
    let budget: BodyBudget
    let metrics: NotificationMetrics
    let logger: Logger
    /// There is something to be passed on.
    let onReceived: @Sendable () -> Void

    var routes: [Route] { [.post("/apple/notifications", receive)] }

    private func receive(_ request: Request, _ context: FrontContext) async throws -> Response {
        do {
            let (outcome, version) = try await take(request)
            metrics.count(outcome == .stored ? .stored : .repeated, version: version)
        } catch let refusal as NotGenuine {
            metrics.count(.refused(refusal.code), version: nil)
            // Not at every one: whoever floods us with forged ones must not fill the disk as well.
            if metrics.mayLogRefusal() {
                logger.warning(
                    "a notification is refused",
                    metadata: ["code": "\(refusal.code.rawValue)", "detail": "\(refusal.detail)"])
            }
            throw Problem(.notificationNotGenuine, "\(refusal.code.rawValue): \(refusal.detail)")
        } catch let problem as Problem {
            metrics.count(.unreadable, version: nil)
            throw problem
        } catch {
            metrics.count(.failed, version: nil)
            throw error
        }
        return .taken
    }

    private func take(_ request: Request) async throws -> (ReceiveOutcome, StoreNotification.Version) {
        // Until it is committed.
        let loan = BodyLoan(budget)
        defer { loan.end() }
        let body = try await bodies.read(request, on: loan, ofAnyType: true)
        let bytes = Array(body.readableBytesView)
        let notification = try await policy.judge(try Self.read(bytes))
        guard let now = store.clock.now else { throw Problem(.databaseUnavailable, "send the same request again") }
        let received = ReceivedNotification(notification, body: bytes, isRelayed: isRelayed)
        let outcome = try await store.receive(received, leeway: leeway, now: now)
        if outcome == .stored { onReceived() }
        return (outcome, notification.version)
    }

    private static func read(_ bytes: [UInt8]) throws -> ServerNotification {
        do {
            return try ServerNotification(body: bytes)
        } catch ServerNotification.ReadError.notJSON {
            throw Problem(.notJSON, "the body is not JSON")
        } catch ServerNotification.ReadError.neitherVersion {
            throw Problem(
                .notANotification, "it has neither signedPayload (version 2) nor notification_type (version 1)")
        } catch {
            throw NotGenuine(.unreadable, "what it calls signed is no JWS, or holds none")
        }
    }
}
