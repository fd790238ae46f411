import RelayCore
import RelayStore

extension PurchaseAcceptor {
    /// Reads and verifies a purchase's proof, as far as the policy trusts it.
    ///
    /// - Throws: ``Problem`` 422 if the policy refuses it.
    func judge(_ request: PurchaseRequest, of key: APIKey) async throws -> ReadReceipt {
        var receipt: ReadReceipt
        switch request.proof {
        case .apple(let sent):
            receipt = ReadReceipt(sent.receiptData, transactionID: sent.transactionID)
            receipt.verification = await receipts.judge(receipt, app: key.app)
        case .store(let sent):
            let answer = receipts.isOn ? await stores.ask(sent.query, of: key.publisher) : nil
            receipt = ReadReceipt(sent, answer, of: key)
        }
        metrics.count(receipt.verification)
        try receipts.check(receipt)
        // The catalogue is needed to decide which subscription the purchase belongs to.
        try await store.offers.ready()
        if !receipts.trusts(receipt.verification) {
            receipt.distrust()
        } else if try await isOutside(receipt, request, key) {
            // Only the app gives this name, so the purchase moves, overtakes and delays no other customer's.
            receipt.standAlone()
            receipt.environment = .unknown
        } else {
            let platform = receipt.platform
            receipt.choose {
                fits(offers.name(of: $0.productID, plan: $0.planID, at: platform, of: key.publisher), request, key)
            }
        }
        return receipt
    }

    /// Whether the purchase belongs to none of the receipt's subscriptions.
    private func isOutside(_ receipt: ReadReceipt, _ request: PurchaseRequest, _ key: APIKey) async throws -> Bool {
        if receipt.isEmpty { return true }
        guard !receipt.isNamed, receipt.isReadable else { return false }
        return try await !isOfReceipt(request, receipt, key)
    }

    /// Whether the catalogue sells a product under the posted offer.
    private func fits(_ product: ProductID, _ request: PurchaseRequest, _ key: APIKey) -> Bool {
        offers.allows(product, under: request.offerID, of: key.publisher) == true
    }

    /// Whether a purchase that the receipt does not name belongs to the receipt's longest-running subscription. It does
    /// only if that subscription matches the posted offer.
    private func isOfReceipt(_ request: PurchaseRequest, _ receipt: ReadReceipt, _ key: APIKey) async throws -> Bool {
        if let product = receipt.productID, fits(ProductID(receipt.platform.prefixed(product)), request, key) {
            return true
        }
        switch try await store.subscriptions.holding(of: receipt.name(of: key.publisher), offer: request.offerID) {
        case .offer: return true
        // If it belonged to this subscription, its refund would end another offer's or customer's purchase.
        case .others: return false
        case .nothing: return !offers.hasProducts(of: key.publisher)
        }
    }

    /// Verifies a proof under every policy, for validators: their answer rests on the proof alone.
    ///
    /// - Throws: ``Problem``: 422 if it is not proven to be genuine; `store_unavailable` if its store cannot be asked;
    ///   `purchase_ended` if the store reports the end without details.
    func prove(_ proof: PurchaseProof, of key: APIKey) async throws -> ReadReceipt {
        switch proof {
        case .apple(let sent):
            var receipt = ReadReceipt(sent.receiptData, transactionID: sent.transactionID)
            receipt.verification = await receipts.prove(receipt, app: key.app)
            metrics.count(receipt.verification)
            guard receipt.purchase != nil else {
                throw Problem(.receiptNotGenuine, "no purchase can be read out of the receipt")
            }
            switch receipt.verification {
            case .genuine: return receipt
            case .notGenuine(let code, let detail):
                throw Problem(.receiptNotGenuine, "the receipt is not genuine: \(code): \(detail)")
            case .notChecked:
                throw Problem(
                    .receiptNotGenuine, "a transaction receipt of iOS 6 cannot be verified; send the app receipt")
            }
        case .store(let sent):
            let answer = await stores.ask(sent.query, of: key.publisher)
            let receipt = ReadReceipt(sent, answer, of: key)
            guard let problem = receipt.problem(answer) else {
                metrics.count(.genuine)
                return receipt
            }
            if problem.code != .storeUnavailable {
                metrics.count(.notGenuine(code: Verification.notAPurchase, detail: problem.detail))
            }
            throw problem
        }
    }
}

extension ReadReceipt {
    /// Why the purchase is not valid; nil if it is.
    fileprivate func problem(_ answer: ExternalStoreAnswer) -> Problem? {
        switch answer {
        case .found where found == nil:
            Problem(.receiptNotGenuine, "the store knows the purchase by another name")
        case .found: verification.detail.map { Problem(.receiptNotGenuine, $0) }
        case .no(let why): Problem(.receiptNotGenuine, why)
        case .unknown: Problem(.receiptNotGenuine, "the store knows no such purchase")
        case .ended(let why): Problem(.purchaseEnded, why)
        case .notConfigured:
            Problem(
                .storeUnavailable,
                "this relay has not been given access to \(platform.title); its operator sets "
                    + "\(platform.accessSetting); the purchase is not refused, validate it again later",
                retryAfter: 3_600)
        case .misconfigured, .tryAgain:
            Problem(
                .storeUnavailable,
                "\(platform.title) cannot be asked now; the purchase is not refused, validate it again in "
                    + "\(answer.retryAfterSeconds) seconds",
                retryAfter: answer.retryAfterSeconds)
        }
    }
}
