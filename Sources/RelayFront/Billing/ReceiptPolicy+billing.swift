import AppleStore
import RelayCore

extension ReceiptPolicy {
    /// Subscriptions in one receipt. No customer has as many.
    private static let mostSubscriptions = 64

    /// What a receipt of Apple's holds, those subscriptions that are over among them; empty where it holds none. A receipt that the
    /// App Store did not sign is refused here in every mode of verification.
    ///
    /// - Throws: ``Problem`` 422 where it cannot be read, or is not shown to be genuine and ours.
    func subscriptions(in text: String) async throws -> [ExternalSubscription] {
        let document: PurchaseDocument
        do {
            document = try PurchaseDocument(try ReceiptData(text))
        } catch {
            throw Self.refused("AppleIapReceipt cannot be read: send it as the App Store gave it")
        }
        do throws(NotGenuine) {
            guard try await document.verify(trust, scope) else {
                throw NotGenuine(.unreadable, "a transaction receipt of iOS 6 cannot be verified")
            }
        } catch {
            throw Self.refused(
                "AppleIapReceipt is not genuine, or not of this app: \(error.code.rawValue): \(error.detail)")
        }
        guard let purchase = try? ReadPurchase(document, transactionId: "") else { return [] }
        return purchase.externalSubscriptions(atMost: Self.mostSubscriptions)
    }

    private static func refused(_ detail: String) -> Problem { Problem(.receiptNotGenuine, detail) }
}
