import HTTPTypes
import Hummingbird
import NIOCore
import RelayCore
import RelayStore

/// `POST /apple/payment`, `/android/payment`, `/amazon/payment`, `/roku/payment`: takes a purchase in.
struct PaymentRoutes: Sendable {
    let store: RelayStore
    let intake: Intake
    let authenticator: Authenticator
    let receipts: ReceiptPolicy
    let drivers: DriverPolicy
    /// Whether the publisher's account has Cleeng's Google Play connector.
    let googleConnector: PerPublisher<Bool>
    let offers: OfferCatalogue
    let bodies: BodyReader
    let budget: BodyBudget
    let trustedProxies: [AddressRange]
    let poll: PollInterval
    let metrics: FrontMetrics

    /// Asked, where they can be, about what they do not sign.
    let stores: StoreGate
    let transfers: TransferGate

    var routes: [Route] {
        [
            .post("/apple/payment") { try await accept($0, $1, takeApple) },
            .post("/android/payment") { try await accept($0, $1) { try await takeStore($0, $1, .google) } },
            .post("/amazon/payment") { try await accept($0, $1) { try await takeStore($0, $1, .amazon) } },
            .post("/roku/payment") { try await accept($0, $1) { try await takeStore($0, $1, .roku) } },
        ]
    }

    private func accept(
        _ request: Request, _ context: FrontContext,
        _ take: (Request, FrontContext) async throws -> (IntakeOutcome, Response)
    ) async throws -> Response {
        do {
            let (outcome, response) = try await take(request, context)
            metrics.count(outcome)
            return response
        } catch {
            metrics.count(IntakeOutcome(Problem(describing: error)))
            throw error
        }
    }

    private func takeApple(_ request: Request, _ context: FrontContext) async throws -> (IntakeOutcome, Response) {
        let key = try await authenticator.key(request, context, opening: .app)
        let customer = try await authenticator.customer(request)
        let idempotencyKey = try IdempotencyKeyHeader.parse(request.headers[.idempotencyKey])
        // Until the purchase is committed: what is read of it, and the row that it becomes, is held that long.
        let loan = BodyLoan(budget)
        defer { loan.end() }
        let body = try await bodies.read(request, on: loan)
        let payment = try PaymentRequest(body)
        try customer.check(payment.email.customer)
        try customer.check(payment.applicationUsername)
        var receipt = ReadReceipt(payment.receiptData, transactionID: payment.transactionID)
        let verification = await receipts.judge(receipt, app: key.app)
        metrics.count(verification)
        try receipts.check(verification, of: receipt)
        if !receipts.trusts(verification) {
            receipt.distrust(transactionID: payment.transactionID)
        } else if receipt.isReadable, !receipt.isNamed, try await !isOfReceipt(payment, receipt, key) {
            receipt.standAlone(transactionID: payment.transactionID)
        }
        var (driver, warnings) = try drivers.choose(for: payment, receipt)
        warnings += offers.warnings(payment, receipt, of: key.publisher)
        let now = try store.memory.clock.required()
        let acceptance = Acceptance(
            payment, receipt: receipt, verification: verification, driver: driver, key: key, now: now,
            peer: peer(request, context), idempotencyKey: idempotencyKey, body: body)
        return try await take(
            in: acceptance, accountToken: verification == .genuine ? receipt.accountToken : nil, context,
            warnings: payment.warnings + warnings)
    }

    /// Whether a purchase that its receipt does not hold is of the subscription that runs longest in it: where that is what is asked for.
    private func isOfReceipt(_ payment: PaymentRequest, _ receipt: ReadReceipt, _ key: APIKey) async throws -> Bool {
        if let product = receipt.productID.map({ ProductID(StorePlatform.apple.prefixed($0)) }),
            offers.allows(product, under: payment.offerID, of: key.publisher) == true
        {
            return true
        }
        let name = SubscriptionName(
            publisher: key.publisher, environment: receipt.environment, originalTransactionID: receipt.subscriptionKey)
        switch try await store.subscriptions.holding(of: name, offer: payment.offerID) {
        case .offer: return true
        // Its refund would end another offer's purchase, or another customer's.
        case .others: return false
        case .nothing: return !offers.hasProducts(of: key.publisher)
        }
    }

    /// - Parameter accountToken: that of the purchase, as its store has signed or said it: of what is not known to be genuine, none.
    func take(
        in acceptance: Acceptance, accountToken: String?, _ context: FrontContext, warnings: [FieldError]
    ) async throws -> (IntakeOutcome, Response) {
        var acceptance = acceptance
        acceptance.keepsOwner = try await transfers.check(
            .init(
                customer: acceptance.email.customer, username: acceptance.applicationUsername, token: accountToken),
            acceptance.subscription)
        for _ in 0..<3 {
            if let taken = try await take(acceptance, context, warnings: warnings) { return taken }
        }
        throw Problem(.databaseUnavailable, "send the same request again")
    }

    /// Nil where what the purchase was known by is no longer kept: that is forgotten now, and the purchase a fresh one.
    private func take(
        _ acceptance: Acceptance, _ context: FrontContext, warnings: [FieldError]
    ) async throws -> (IntakeOutcome, Response)? {
        context.notes.validation = acceptance.id
        switch try await intake.accept(acceptance) {
        case .created(let acceptedAt, let deadline):
            let validation = Validation(
                id: acceptance.id, publisher: acceptance.publisher, app: acceptance.app, email: acceptance.email.sent,
                customer: acceptance.email.customer, offerID: acceptance.offerID, status: .pending,
                acceptedAt: acceptedAt, deadline: deadline)
            return (.created, PaymentAnswer.response(validation, warnings: warnings, poll: poll))
        case .existing(let id):
            context.notes.validation = id
            guard let validation = try await store.purchases.validation(id) else {
                try await store.purchases.forget(id, of: acceptance)
                return nil
            }
            return (.existing, PaymentAnswer.response(validation, warnings: warnings, poll: poll))
        case .idempotencyKeyReused:
            throw Problem(.idempotencyKeyReused, "use a new key for a new request")
        }
    }

    func peer(_ request: Request, _ context: FrontContext) -> IPAddress? {
        ClientAddress.find(
            peer: context.channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) },
            forwardedFor: trustedProxies.isEmpty ? nil : request.headers[.xForwardedFor], trusted: trustedProxies)
    }
}
