import AppleStore
import HTTPServer
import Hummingbird
import Relay
import RelayCore

/// `POST /v1/validate`: the validator for cordova-plugin-purchase and similar plugins, called from inside an app. A
/// genuine purchase enters the ledger, under the username if there is one. If the username is an email and the product
/// belongs to an offer, the purchase is also sent to Cleeng. The answer is always HTTP 200.
struct ValidateRoutes: Sendable {
    let acceptor: PurchaseAcceptor
    let authenticator: Authenticator
    let bodies: BodyReader
    let budget: BodyBudget

    private var store: RelayStore { acceptor.store }

    init(_ parts: FrontFeature.Parts) {
        acceptor = parts.acceptor
        authenticator = parts.authenticator
        bodies = BodyReader(maximumBytes: parts.maxBodyBytes)
        budget = parts.budget
    }

    /// WebViews call from any origin and without cookies. Every client with the key may read the answer.
    static let headers: HTTPFields = [
        .contentType: "application/json", .cacheControl: "no-store", .accessControlAllowOrigin: "*",
    ]

    static let path = "/v1/validate"

    var routes: [Route] { [.post(Self.path, answer), .options(Self.path, preflight)] }

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
        case .apple: return try await answer(wanted, key: key, context)
        case .store:
            // Continues if the app disconnects, as a posted purchase does.
            return try await acceptor.stores.finish { try await answer(wanted, key: key, context) }
        }
    }

    /// Answers from the store's data: Apple's proof contains it, and other stores are asked.
    private func answer(
        _ wanted: ValidateRequest, key: APIKey, _ context: FrontContext
    ) async throws -> Response {
        let receipt = try await acceptor.prove(wanted.proof, of: key)
        let messages = receipt.messages(of: key.publisher)
        let takes = receipt.taken(of: key.publisher)
        let keepsOwner = try await check([receipt.name(of: key.publisher)] + takes, wanted, token: receipt.accountToken)
        let customer = wanted.username.map { CustomerName(publisher: key.publisher, username: $0) }
        let entered = try await store.customers.enter(messages, for: customer, app: key.app)
        let now = try store.memory.clock.required()
        try await forward(entered, wanted, receipt, takes: takes, keepsOwner: keepsOwner, from: key, context)
        let transaction = ValidatedTransaction(receipt, wanted.proof)
        var purchases = entered.flatMap(\.purchases)
        if let found = receipt.found, entered.isEmpty {
            purchases = [CustomerPurchase(usedUp: found, transactionID: transaction.transactionID)]
        }
        let body = ValidateAnswer.json(wanted, transaction, purchases, now: now)
        return Response(
            status: .ok, headers: Self.headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    /// - Returns: whether the purchases must leave their subscriptions to their owners at the time of sending.
    /// - Throws: ``Problem``: `owned_by_another`.
    private func check(_ names: [SubscriptionName], _ wanted: ValidateRequest, token: String?) async throws -> Bool {
        guard let username = wanted.username else { return false }
        let customer = CustomerEmail(username.text)?.customer
        return try await acceptor.transfers.check(names, for: username, customer: customer, token: token)
    }

    /// Sends subscriptions to Cleeng that run, belong to an offer, and are not this customer's already.
    private func forward(
        _ entered: [EnteredSubscription], _ wanted: ValidateRequest, _ receipt: ReadReceipt,
        takes: [SubscriptionName], keepsOwner: Bool, from key: APIKey, _ context: FrontContext
    ) async throws {
        // StoreKit 2 requires Cleeng's number of the customer, which no validator has.
        guard acceptor.drivers != .storekit2 || receipt.platform != .apple,
            let username = wanted.username, let email = CustomerEmail(username.text)
        else { return }
        try await store.offers.ready()
        for one in entered {
            guard let (running, offer) = sold(one.purchases, by: key.publisher),
                one.owner?.customer != email.customer || one.owner?.offerID != offer
            else { continue }
            let request = PurchaseRequest(
                email: email, offerID: offer, proof: wanted.proof, applicationUsername: username)
            var narrow = receipt
            narrow.narrow(to: one.name, running)
            var (acceptance, _) = try acceptor.acceptance(of: request, narrow, from: .init(key: key))
            acceptance.keepsOwner = keepsOwner
            acceptance.takes = takes
            acceptor.metrics.count(try await acceptor.record(acceptance, context.notes).outcome)
        }
    }

    /// The first running purchase whose product belongs to an offer. A subscription may also have other products.
    private func sold(
        _ purchases: [CustomerPurchase], by publisher: PublisherID
    ) -> (CustomerPurchase, OfferID)? {
        for purchase in purchases.sorted(by: { $0.productID < $1.productID }) where !purchase.isExpired {
            let name = acceptor.offers.name(
                of: purchase.productID, plan: purchase.planID, at: purchase.platform, of: publisher)
            if let offer = acceptor.offers.offer(forProduct: name, of: publisher) { return (purchase, offer) }
        }
        return nil
    }
}

extension ReadReceipt {
    /// Statements of a genuine proof about each of its subscriptions.
    fileprivate func messages(of publisher: PublisherID) -> [LedgerMessage] {
        func message(_ name: SubscriptionName, _ statement: LedgerStatement) -> LedgerMessage {
            LedgerMessage(name, statement, bundleID: bundleID, note: .init(event: "validated"))
        }
        guard let found else {
            return (purchase?.periodsBySubscription ?? [:]).map {
                message(name(of: publisher).under($0), LedgerStatement(periods: $1))
            }
        }
        // A used consumable enters no ledger.
        return found.statement == LedgerStatement() ? [] : message(name(of: publisher), found.statement).withMoves
    }
}

extension CustomerPurchase {
    /// A purchase without a ledger, such as a used consumable.
    fileprivate init(usedUp found: ExternalSubscription, transactionID: TransactionID?) {
        let name = found.platform.name(ofKey: found.key)
        self.init(
            platform: found.platform, productID: found.productID ?? "", purchaseID: name,
            transactionID: transactionID ?? name, isSandbox: found.environment != "Production", isExpired: false)
    }
}
