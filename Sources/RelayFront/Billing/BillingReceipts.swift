public import AppleStore
import RelayCore

/// Reads Apple's receipts for those who are told what is in them: whatever is done with purchases on their way to Cleeng, what does not
/// come from the App Store is nothing here.
public struct BillingReceipts: Sendable {
    /// Of one receipt. No customer has as many.
    static let mostSubscriptions = 64

    private let trust: ChainOfTrust
    private let scope: StoreScope

    public init(trust: ChainOfTrust, scope: StoreScope) {
        self.trust = trust
        self.scope = scope
    }

    /// Its subscriptions, those that are over among them; empty where it holds none.
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
        guard let purchase = try? PurchaseReader.read(document, transactionId: "") else { return [] }
        return purchase.externalSubscriptions(atMost: Self.mostSubscriptions)
    }

    private static func refused(_ detail: String) -> Problem { Problem(.receiptNotGenuine, detail) }
}
