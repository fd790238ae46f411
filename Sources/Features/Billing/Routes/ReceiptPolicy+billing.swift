import AppleStore
import HTTPServer
import Relay
import RelayCore

extension ReceiptPolicy {
    /// Bound of subscriptions in one receipt, above every real customer's number.
    private static let mostSubscriptions = 64

    /// The subscriptions in an Apple receipt, including ended ones; empty if there are none. A receipt without the App
    /// Store's signature is refused in every verification mode.
    ///
    /// - Throws: ``Problem`` 422 if it cannot be read, or is not proven to be genuine and for this relay's apps.
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
