import HTTPServer
import Relay
import RelayCore

extension PurchaseAcceptor {
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
