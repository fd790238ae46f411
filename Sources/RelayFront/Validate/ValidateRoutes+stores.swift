import Hummingbird
import RelayCore
import RelayStore

extension ValidateRoutes {
    /// Answers for Google Play's and the Amazon Appstore's purchases: what the store says now is all that counts.
    func answer(
        _ wanted: ValidateRequest, _ receipt: StoreReceipt, key: APIKey, _ context: FrontContext
    ) async throws -> Response {
        let found: ExternalSubscription
        do {
            found = try await ask(receipt, of: key.publisher)
            if let detail = receipt.troubleWithApp(of: key) { throw Problem(.receiptNotGenuine, detail) }
            metrics.count(.genuine)
        } catch let problem as Problem {
            if problem.code != .storeUnavailable {
                metrics.count(.notGenuine(code: Verification.notAPurchase, detail: problem.detail))
            }
            throw problem
        }
        let name = SubscriptionName(
            publisher: key.publisher, environment: found.environment, originalTransactionID: found.key)
        // What is used up enters no ledger.
        let messages =
            found.word == LedgerStatement()
            ? []
            : LedgerMessage(name, found.word, bundleID: receipt.asked, note: .init(event: "validated"))
                .withMoves
        let keepsOwner = try await check([name], wanted, token: found.accountToken)
        let (entered, now) = try await enter(messages, wanted, key)
        try await forward(entered, wanted, key: key, context) { _, running, email, username, offer in
            var acceptance = Acceptance(
                StorePaymentRequest(validating: receipt, of: email, username: username, offerID: offer),
                driver: receipt.driver, verification: .genuine, found: found, isTrusted: true, key: key, now: now,
                peer: nil,
                idempotencyKey: nil)
            acceptance.productID = running.productID
            acceptance.keepsOwner = keepsOwner
            return acceptance
        }
        let purchases = entered.isEmpty ? [CustomerPurchase(usedUp: found, receipt)] : entered.flatMap(\.purchases)
        return Self.response(wanted, ValidatedTransaction(receipt, found), purchases, now: now)
    }

    /// - Throws: ``Problem``: `store_unavailable` where it cannot be asked, `purchase_ended` where it says no more than that it is over.
    private func ask(_ receipt: StoreReceipt, of publisher: PublisherID) async throws -> ExternalSubscription {
        let platform = receipt.query.platform
        let answer = await stores.ask(receipt.query, of: publisher)
        switch answer {
        case .found(let found):
            guard let one = receipt.subscription(in: found) else {
                throw Problem(.receiptNotGenuine, "the store knows the purchase by another name")
            }
            return one
        case .no(let why): throw Problem(.receiptNotGenuine, why)
        case .unknown: throw Problem(.receiptNotGenuine, "the store knows no such purchase")
        case .ended(let why): throw Problem(.purchaseEnded, why)
        case .notConfigured:
            throw Problem(
                .storeUnavailable,
                "this relay has not been given access to \(platform.title); its operator sets "
                    + "\(platform.accessSetting); the purchase is not refused, validate it again later",
                retryAfter: 3_600)
        case .misconfigured, .tryAgain:
            let seconds = answer.retryAfterSeconds
            throw Problem(
                .storeUnavailable,
                "\(platform.title) cannot be asked now; the purchase is not refused, validate it again in "
                    + "\(seconds) seconds",
                retryAfter: seconds)
        }
    }
}

extension StorePlatform {
    /// Setting that gives the relay access to the store.
    fileprivate var accessSetting: String {
        switch self {
        case .apple: "RELAY_APPLE_API_KEY_FILE"
        case .google: "RELAY_GOOGLE_SERVICE_ACCOUNT_FILE"
        case .amazon: "RELAY_AMAZON_SHARED_SECRET"
        case .roku: "RELAY_ROKU_API_KEY"
        }
    }
}

extension CustomerPurchase {
    /// What no ledger has.
    fileprivate init(usedUp found: ExternalSubscription, _ receipt: StoreReceipt) {
        let name = found.platform.name(ofKey: found.key)
        self.init(
            platform: found.platform, productID: found.productID ?? "", purchaseID: name,
            transactionID: ValidatedTransaction(receipt, found).transactionID ?? name,
            isSandbox: found.environment != "Production", isExpired: false)
    }
}
