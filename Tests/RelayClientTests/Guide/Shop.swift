import Foundation
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

    /// Products that this customer has pressed "buy" for and that the relay does not have yet. Kept over starts.
    private var asked: Set<String> {
        get { Set(UserDefaults.standard.stringArray(forKey: "asked " + email) ?? []) }
        set { UserDefaults.standard.set(Array(newValue), forKey: "asked " + email) }
    }

    /// From the app's start on: what was approved meanwhile, and what it could not finish last time.
    func listen() async {
        for await result in Transaction.updates {
            Task { await redeem(result) }
        }
    }

    /// When the app comes back to the front: what was interrupted by its way to the background.
    func resume() async {
        for await result in Transaction.unfinished { await redeem(result) }
    }

    func buy(_ product: Product) async throws {
        asked.insert(product.id)
        switch try await product.purchase() {
        case .success(let result): await redeem(result)
        case .userCancelled: asked.remove(product.id)
        // Somebody must approve it first: `updates` brings it, perhaps days later.
        default: break
        }
    }

    /// The button "restore purchases".
    func restore() async throws {
        try await AppStore.sync()
        for await result in Transaction.currentEntitlements { await redeem(result, isRestored: true) }
    }

    private func redeem(_ result: VerificationResult<Transaction>, isRestored: Bool = false) async {
        guard case .verified(let transaction) = result, let offer = offers[transaction.productID] else { return }
        if transaction.revocationDate != nil { return await transaction.finish() }
        // A renewal, or bought on another device, maybe under another email: posting would move it to this one.
        guard isRestored || asked.contains(transaction.productID) else { return }
        do {
            let purchase = Purchase(
                email: email, offer: offer,
                proof: .signedTransaction(result.jwsRepresentation, transactionID: String(transaction.id)))
            let outcome = try await relay.redeem(purchase) { _ in
                // The relay has it: the App Store need not offer it again.
                asked.remove(transaction.productID)
                await transaction.finish()
            }
            show(outcome)
        } catch let error as RelayError {
            // Not finished: `updates` offers it again at the next start, `unfinished` at any time.
            report(error)
        } catch {
            // The task was cancelled.
        }
    }
}
// end shop
