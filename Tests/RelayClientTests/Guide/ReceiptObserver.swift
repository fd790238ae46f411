import Foundation
import RelayClient

// begin observer
@MainActor
final class ReceiptObserver: NSObject, @preconcurrency SKPaymentTransactionObserver {
    let relay: RelayClient
    let email: String
    let offer: String
    let show: (Outcome) -> Void
    /// Products that this customer has pressed "buy" for: add them before the payment.
    var asked: Set<String> {
        get { Set(UserDefaults.standard.stringArray(forKey: "asked " + email) ?? []) }
        set { UserDefaults.standard.set(Array(newValue), forKey: "asked " + email) }
    }
    /// Set it around `restoreCompletedTransactions`.
    var isRestoring = false

    init(relay: RelayClient, email: String, offer: String, show: @escaping (Outcome) -> Void) {
        self.relay = relay
        self.email = email
        self.offer = offer
        self.show = show
    }

    func paymentQueue(_ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]) {
        for transaction in transactions {
            switch transaction.transactionState {
            case .purchased where asked.contains(transaction.payment.productIdentifier), .restored where isRestoring:
                Task { try await redeem(transaction, queue) }
            case .failed:
                asked.remove(transaction.payment.productIdentifier)
                queue.finishTransaction(transaction)
            // A renewal, or bought on another device, maybe under another email: posting would move it to this one.
            default: break
            }
        }
    }

    private func redeem(_ transaction: SKPaymentTransaction, _ queue: SKPaymentQueue) async throws {
        // Without a receipt on the device: refresh it by SKReceiptRefreshRequest, then come back here.
        guard let file = Bundle.main.appStoreReceiptURL, let receipt = try? Data(contentsOf: file),
            let id = transaction.transactionIdentifier
        else { return }
        let purchase = Purchase(email: email, offer: offer, proof: .appReceipt(receipt, transactionID: id))
        let taken = try await relay.submit(purchase)
        asked.remove(transaction.payment.productIdentifier)
        queue.finishTransaction(transaction)
        for try await state in relay.states(of: taken) {
            if let outcome = state.outcome { show(outcome) }
        }
    }
}
// end observer
