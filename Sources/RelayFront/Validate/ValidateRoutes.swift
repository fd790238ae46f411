import AppleStore
import Hummingbird
import RelayCore
import RelayStore

/// `POST /v1/validate`: the validator that cordova-plugin-purchase and its kin call from inside an app. What is genuine, or its store
/// says to have been bought, enters the ledger, under the username where one is named; where that is an email, and the product is one of an offer, it is sent to Cleeng
/// like any other purchase. The answer is HTTP 200 always.
struct ValidateRoutes: Sendable {
    let store: RelayStore
    let intake: Intake
    let authenticator: Authenticator
    let receipts: ReceiptPolicy
    let drivers: DriverPolicy
    let offers: OfferCatalogue
    let bodies: BodyReader
    let budget: BodyBudget
    let leeway: Duration
    let metrics: FrontMetrics
    let stores: StoreGate
    let transfers: TransferGate

    /// WebViews call from wherever they were loaded, without cookies: anybody may read the answer, who has the key.
    static let headers: HTTPFields = [
        .contentType: "application/json", .cacheControl: "no-store", .accessControlAllowOrigin: "*",
    ]

    var routes: [Route] { [.post("/v1/validate", answer), .options("/v1/validate", preflight)] }

    private func preflight(_ request: Request, _ context: FrontContext) -> Response {
        var response = CrossOrigin.preflight(
            methods: "POST, OPTIONS", headers: "Authorization, Content-Type, X-Customer-Token")
        response.headers[.accessControlAllowOrigin] = "*"
        return response
    }

    private func answer(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(
            request, context, named: QueryItems(request.uri.query), opening: .app)
        let speaker = try await authenticator.customer(request)
        let loan = BodyLoan(budget)
        defer { loan.end() }
        let wanted = try ValidateRequest(try await bodies.read(request, on: loan), app: key.app)
        if let username = wanted.username { try speaker.check(username) }
        switch wanted.proof {
        case .apple(let text): return try await answer(wanted, appStoreReceipt: text, key: key, context)
        case .store(let receipt):
            // As of a purchase that an app sends to be forwarded: it continues if the app hangs up.
            return try await stores.finish { try await answer(wanted, receipt, key: key, context) }
        }
    }

    private func answer(
        _ wanted: ValidateRequest, appStoreReceipt text: String, key: APIKey, _ context: FrontContext
    ) async throws -> Response {
        let receipt = ReadReceipt(text, transactionID: wanted.transactionID)
        let verification = await receipts.prove(receipt, app: key.app)
        metrics.count(verification)
        guard let purchase = receipt.purchase else {
            throw Problem(.receiptNotGenuine, "no purchase can be read out of the receipt")
        }
        if case .notGenuine(let code, let detail) = verification {
            throw Problem(.receiptNotGenuine, "the receipt is not genuine: \(code): \(detail)")
        }
        guard verification == .genuine else {
            throw Problem(.receiptNotGenuine, "a transaction receipt of iOS 6 cannot be verified; send the app receipt")
        }
        let messages = purchase.ledgerPeriods.map { id, period in
            LedgerMessage(
                SubscriptionName(publisher: key.publisher, environment: receipt.environment, originalTransactionID: id),
                LedgerStatement(periods: [period]), bundleID: receipt.bundleID, note: .init(event: "validated"))
        }
        let keepsOwner = try await check(messages.map(\.name), wanted, token: receipt.accountToken)
        let (entered, now) = try await enter(messages, wanted, key)
        // By StoreKit 2 alone Cleeng would need the customer's number, which no validator has.
        if drivers != .storekit2 {
            try await forward(entered, wanted, key: key, context) { one, running, email, username, offer in
                var acceptance = Acceptance(
                    validating: one.name, running, of: email, username: username, offer: offer, receipt: receipt,
                    key: key, now: now)
                acceptance.keepsOwner = keepsOwner
                return acceptance
            }
        }
        return Self.response(wanted, ValidatedTransaction(receipt), entered.flatMap(\.purchases), now: now)
    }

    /// - Returns: whether the purchases leave their subscriptions to their owners at the time of sending.
    /// - Throws: ``Problem``: `owned_by_another`.
    func check(_ names: [SubscriptionName], _ wanted: ValidateRequest, token: String?) async throws -> Bool {
        guard let username = wanted.username else { return false }
        var keepsOwner = false
        for name in names {
            let customer = CustomerEmail(username.text)?.customer
            let isKept = try await transfers.check(.init(customer: customer, username: username, token: token), name)
            keepsOwner = keepsOwner || isKept
        }
        return keepsOwner
    }

    /// Under the name of a customer, where the request names one.
    func enter(
        _ messages: [LedgerMessage], _ wanted: ValidateRequest, _ key: APIKey
    ) async throws -> (entered: [EnteredSubscription], now: Timestamp) {
        let customer = wanted.username.map { CustomerName(publisher: key.publisher, username: $0) }
        let entered = try await store.customers.enter(messages, for: customer, app: key.app, leeway: leeway)
        let now = try store.memory.clock.required()
        return (entered, now)
    }

    static func response(
        _ wanted: ValidateRequest, _ transaction: ValidatedTransaction, _ purchases: [CustomerPurchase], now: Timestamp
    ) -> Response {
        let body = ValidateAnswer.json(wanted, transaction, purchases, now: now)
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    typealias Accepting = (
        _ one: EnteredSubscription, _ running: CustomerPurchase, CustomerEmail, _ username: Username, _ offer: OfferID
    ) -> Acceptance

    /// On to Cleeng, what runs, is sold as an offer there, and is not this customer's already.
    func forward(
        _ entered: [EnteredSubscription], _ wanted: ValidateRequest, key: APIKey, _ context: FrontContext,
        _ acceptance: Accepting
    ) async throws {
        guard let username = wanted.username, let email = CustomerEmail(username.text) else { return }
        try await store.offers.ready()
        for one in entered {
            guard let running = one.purchases.first(where: { !$0.isExpired }),
                let offer = offers.offer(
                    forProduct: ProductID(running.platform.prefixed(running.productID)), of: key.publisher),
                one.owner?.customer != email.customer || one.owner?.offerID != offer
            else { continue }
            let acceptance = acceptance(one, running, email, username, offer)
            context.notes.validation = acceptance.id
            switch try await intake.accept(acceptance) {
            case .created: metrics.count(.created)
            case .existing, .idempotencyKeyReused: metrics.count(.existing)
            }
        }
    }
}

extension Acceptance {
    /// The same purchase whenever it is validated again, though a device's receipt is another one each time: it is known by its
    /// transaction.
    fileprivate init(
        validating name: SubscriptionName, _ purchase: CustomerPurchase, of email: CustomerEmail, username: Username,
        offer: OfferID, receipt: ReadReceipt, key: APIKey, now: Timestamp
    ) {
        self.init(
            id: ValidationID(in: name.bucket, now: now),
            publisher: key.publisher, app: key.app, email: email, applicationUsername: username, offerID: offer,
            transactionID: purchase.transactionID, appType: "ios", ipAddress: nil, couponCode: nil,
            subscriptionKey: name.originalTransactionID, environment: name.environment, productID: purchase.productID,
            bundleID: receipt.bundleID, isReceiptReadable: true, verification: .genuine,
            period: receipt.purchase?.ledgerPeriods[name.originalTransactionID], receipt: receipt.stored,
            purchaseKey: PurchaseDigest.of(
                "validate", key.publisher.text, key.app.text, email.customer.text, offer.text, name.environment.text,
                name.originalTransactionID.text, identity: Array(purchase.transactionID.text.utf8)), idempotencyKey: nil
        )
    }
}
