import AppleStore
import Formats
import HTTPTypes
import Hummingbird
import RelayCore
import RelayStore

extension PaymentRoutes {
    /// A purchase at Google Play, the Amazon Appstore or Roku Pay.
    func takeStore(
        _ request: Request, _ context: FrontContext, _ platform: StorePlatform
    ) async throws -> (IntakeOutcome, Response) {
        let key = try await authenticator.key(request, context, opening: .app)
        let customer = try await authenticator.customer(request)
        let idempotencyKey = try IdempotencyKeyHeader.parse(request.headers[.idempotencyKey])
        let loan = BodyLoan(budget)
        defer { loan.end() }
        let body = try await bodies.read(request, on: loan)
        let connects = platform == .google && googleConnector[key.publisher] == true
        let payment = try StorePaymentRequest(body, of: platform, connects: connects)
        try customer.check(payment.email.customer)
        try customer.check(payment.applicationUsername)
        let peer = peer(request, context)
        let repeatable = idempotencyKey.map { Acceptance.IdempotencyKey($0, apiKey: key.id, body: body) }
        // An app that hangs up while the store is asked has bought all the same. What was lent is given back after that.
        return try await stores.finish {
            try await acceptStore(payment, key: key, peer: peer, idempotencyKey: repeatable, context)
        }
    }

    private func acceptStore(
        _ payment: StorePaymentRequest, key: APIKey, peer: IPAddress?, idempotencyKey: Acceptance.IdempotencyKey?,
        _ context: FrontContext
    ) async throws -> (IntakeOutcome, Response) {
        let (verification, found) = await judge(payment.receipt, of: key)
        metrics.count(verification)
        try receipts.check(verification)
        let now = try store.memory.clock.required()
        let (driver, notes) = drivers.choose(for: payment, found)
        let acceptance = Acceptance(
            payment, driver: driver, verification: verification, found: found, isTrusted: receipts.trusts(verification),
            key: key,
            now: now, peer: peer, idempotencyKey: idempotencyKey)
        var warnings = payment.warnings + notes
        if let product = acceptance.productID.map(payment.receipt.query.platform.prefixed),
            offers.allows(ProductID(product), under: payment.offerID, of: key.publisher) == false
        {
            warnings.append(.productMismatch(product))
        }
        let token = verification == .genuine ? found?.accountToken : nil
        return try await take(in: acceptance, accountToken: token, context, warnings: warnings)
    }

    /// What the store says of it, where it can be asked now. It signs nothing: its word is all there is.
    private func judge(
        _ receipt: StoreReceipt, of key: APIKey
    ) async -> (Verification, ExternalSubscription?) {
        guard receipts.isOn else { return (.notChecked, nil) }
        switch await stores.ask(receipt.query, of: key.publisher) {
        case .found(let found):
            guard let one = receipt.subscription(in: found) else {
                return (.notGenuine(code: Verification.notAPurchase, detail: "the store knows it by another name"), nil)
            }
            if let detail = receipt.troubleWithApp(of: key) {
                return (.notGenuine(code: Verification.bundle, detail: detail), one)
            }
            return (.genuine, one)
        case .no(let why), .ended(let why): return (.notGenuine(code: Verification.notAPurchase, detail: why), nil)
        case .unknown: return (.notGenuine(code: Verification.notAPurchase, detail: "the store does not know it"), nil)
        case .notConfigured, .misconfigured, .tryAgain: return (.notChecked, nil)
        }
    }
}

extension Verification {
    /// The code of what another store than Apple's says no to.
    static let notAPurchase = "not_a_purchase"
    /// Code of a purchase in another app than the key's.
    static let bundle = NotGenuine.Code.bundle.rawValue
}

extension StoreReceipt {
    /// What the store shows of it. Roku finds a subscription by a renewal too, and shows it under its original transaction.
    func subscription(in found: [ExternalSubscription]) -> ExternalSubscription? {
        found.first { $0.key == subscriptionKey } ?? (query.platform.namesRenewals ? found.first : nil)
    }

    /// What is wrong with the app that it was bought in, where the key names one. Amazon's receipts and Roku's orders name none.
    func troubleWithApp(of key: APIKey) -> String? {
        guard case .google(let receipt) = self, !key.app.isEmpty, receipt.packageName != key.app else { return nil }
        return "it was bought in another app than the key's"
    }
}

extension Acceptance {
    /// - Parameters:
    ///   - driver: by which road it goes to Cleeng. The Google Play connector takes no coupon.
    ///   - found: what the store says; nil where it was not asked, or says no.
    ///   - isTrusted: where it is not, the purchase stands in an environment of its own: what no store has confirmed moves, overtakes and
    ///     holds up nothing that one has.
    init(
        _ request: StorePaymentRequest, driver: PurchaseDriver, verification: Verification,
        found: ExternalSubscription?, isTrusted: Bool,
        key: APIKey, now: Timestamp, peer: IPAddress?, idempotencyKey: IdempotencyKey?
    ) {
        let subscriptionKey = found?.key ?? request.receipt.subscriptionKey
        let (transaction, appType): (String, String)
        var product = found?.productID
        switch request.receipt {
        case .google(let receipt):
            (transaction, appType) = (receipt.orderId ?? receipt.purchaseToken, "android")
            product = product ?? receipt.productId
        case .amazon(let receipt): (transaction, appType) = (receipt.receiptId, "amazon")
        case .roku(let order):
            (transaction, appType) = (order.purchaseId, "roku")
            product = product ?? order.code
        }
        self.init(
            id: ValidationID(in: Bucket(of: key.publisher, subscriptionKey), now: now),
            publisher: key.publisher, app: key.app, email: request.email,
            applicationUsername: request.applicationUsername, offerID: request.offerID,
            transactionID: TransactionID(transaction),
            appType: appType,
            ipAddress: (request.ipAddress.flatMap { IPAddress($0) } ?? peer)?.uncompressed,
            couponCode: driver == .googleV2 ? nil : request.couponCode, subscriptionKey: subscriptionKey,
            environment: isTrusted ? found?.environment ?? .production : .unknown, productID: product,
            bundleID: request.receipt.asked,
            isReceiptReadable: true, verification: verification, period: found?.word.periods.first,
            cleengCustomer: request.cleengCustomer, driver: driver,
            receipt: Receipt(isText: true, bytes: Private(request.receipt.json)),
            purchaseKey: PurchaseDigest.of(
                key.publisher.text, key.app.text, request.email.customer.text, request.offerID.text,
                identity: Array(subscriptionKey.text.utf8)), idempotencyKey: idempotencyKey)
    }
}

extension StoreReceipt {
    /// As it is kept.
    fileprivate var json: [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        switch self {
        case .google(let receipt):
            writer.member("productId", receipt.productId)
            writer.member("purchaseToken", receipt.purchaseToken)
            writer.member("packageName", receipt.packageName)
            writer.member("orderId", receipt.orderId)
            writer.member("purchaseState", receipt.purchaseState)
            writer.member("purchaseTime", receipt.purchaseTime)
            writer.member("developerPayload", receipt.developerPayload)
        case .amazon(let receipt):
            writer.member("receiptId", receipt.receiptId)
            writer.member("userId", receipt.userId)
        case .roku(let order):
            writer.member("purchaseId", order.purchaseId)
            writer.member("code", order.code)
            writer.member("amount", order.amount)
            writer.member("qty", order.qty)
            writer.member("total", order.total)
        }
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    /// As `StoreReceipt.SentScalar` is read again. Nil leaves it out.
    fileprivate mutating func member(_ name: StaticString, _ scalar: StoreReceipt.SentScalar?) {
        guard let scalar else { return }
        beginObject(name)
        switch scalar {
        case .number(let digits): member("number", digits)
        case .text(let text): member("text", text)
        }
        endObject()
    }
}
