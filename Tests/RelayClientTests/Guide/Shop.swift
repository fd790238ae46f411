import RelayClient

// begin shop
/// What a signed-in customer buys. The whole app has one.
@MainActor
final class Shop {
    let relay: RelayClient
    let email: String
    /// By product of the App Store: the offer at Cleeng.
    let offers: [String: String]
    /// The app's own way to open its content and to say what happened.
    let show: (Outcome) -> Void
    let report: (RelayError) -> Void

    init(
        relay: RelayClient, email: String, offers: [String: String], show: @escaping (Outcome) -> Void,
        report: @escaping (RelayError) -> Void
    ) {
        self.relay = relay
        self.email = email
        self.offers = offers
        self.show = show
        self.report = report
    }

    /// From the app's start on: what was bought outside of it, and what it could not finish last time.
    func listen() async {
        for await result in Transaction.updates {
            Task { await redeem(result) }
        }
    }

    func buy(_ product: Product) async throws {
        if case .success(let result) = try await product.purchase() {
            await redeem(result, isAskedFor: true)
        }
    }

    /// The button "restore purchases".
    func restore() async throws {
        try await AppStore.sync()
        for await result in Transaction.currentEntitlements {
            await redeem(result, isAskedFor: true)
        }
    }

    private func redeem(_ result: VerificationResult<Transaction>, isAskedFor: Bool = false) async {
        guard case .verified(let transaction) = result, let offer = offers[transaction.productID] else { return }
        do {
            if !isAskedFor {
                // Bought by somebody who has moved it to another email since, or refunded: the app does not take it back by
                // itself.
                let known = try await relay.entitlement(email: email, offer: offer)
                guard transaction.revocationDate == nil, known?.status != .transferred else {
                    return await transaction.finish()
                }
            }
            let purchase = Purchase(
                email: email, offer: offer,
                proof: .signedTransaction(result.jwsRepresentation, transactionID: String(transaction.id)))
            let outcome = try await relay.redeem(purchase) { _ in
                // The relay has it: the App Store need not offer it again.
                await transaction.finish()
            }
            show(outcome)
        } catch let error as RelayError {
            // Not finished: `updates` offers it again at the next start.
            report(error)
        } catch {
            // The task was cancelled.
        }
    }
}
// end shop
