import Formats
import HTTPServer
import HTTPTypes
import Hummingbird
import NIOCore
import RelayCore

/// A `POST` route for each store's ``StoreTraits/paymentPath``: accept purchases.
struct PaymentRoutes: Sendable {
    let acceptor: PurchaseAcceptor
    let authenticator: Authenticator
    /// Whether the publisher's account has Cleeng's Google Play connector.
    let googleConnector: PerPublisher<Bool>
    let bodies: BodyReader
    let budget: BodyBudget
    let trustedProxies: [AddressRange]
    let poll: PollInterval

    var routes: [Route] {
        StorePlatform.allCases.map { platform in
            .post(platform.paymentPath) { try await answer($0, $1, platform) }
        }
    }

    private func answer(
        _ request: Request, _ context: FrontContext, _ platform: StorePlatform
    ) async throws -> Response {
        do {
            let accepted = try await accept(request, context, platform)
            acceptor.metrics.count(accepted.outcome)
            return PaymentAnswer.response(accepted.validation, warnings: accepted.warnings, poll: poll)
        } catch {
            acceptor.metrics.count(IntakeOutcome(Problem(describing: error)))
            throw error
        }
    }

    private func accept(
        _ request: Request, _ context: FrontContext, _ platform: StorePlatform
    ) async throws -> PurchaseAcceptor.Accepted {
        let key = try await authenticator.key(request, context, opening: .app)
        let customer = try await authenticator.customer(request)
        let idempotencyKey = try IdempotencyKeyHeader.parse(request.headers[.idempotencyKey])
        // Released after the commit: the body and its row occupy memory until then.
        let loan = BodyLoan(budget)
        defer { loan.end() }
        let body = try await bodies.read(request, on: loan)
        let hasConnector = platform == .apple || platform == .google && googleConnector[key.publisher] == true
        let purchase = try PurchaseRequest(body, of: platform, readsNumber: hasConnector)
        try customer.check(purchase.email.customer)
        try customer.check(purchase.applicationUsername)
        let sender = PurchaseAcceptor.Sender(
            key: key, peer: peer(request, context),
            idempotencyKey: idempotencyKey.map { Acceptance.IdempotencyKey($0, apiKey: key.id, body: body) })
        switch purchase.proof {
        case .apple where purchase.cleengCustomer == nil:
            return try await acceptor.accept(purchase, from: sender, context.notes)
        case .apple, .store:
            // A purchase is accepted even if its app disconnects during the question to the store or to Cleeng. The
            // loan ends after that.
            return try await acceptor.stores.finish {
                try await acceptor.accept(purchase, from: sender, context.notes)
            }
        }
    }

    private func peer(_ request: Request, _ context: FrontContext) -> IPAddress? {
        ClientAddress.find(
            peer: context.channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) },
            forwardedFor: trustedProxies.isEmpty ? nil : request.headers[.xForwardedFor], trusted: trustedProxies)
    }
}
