package import AppleStore
import HTTPServer
package import RelayCore

/// What the relay read from a purchase's proof, at any store. Reading verifies nothing, and refuses nothing that is
/// unreadable.
package struct ReadReceipt: Sendable {
    package var platform = StorePlatform.apple
    package var verification = Verification.notChecked
    var isReadable: Bool
    /// Whether it is a receipt without a purchase. Used consumables and ended passes vanish from receipts.
    var isEmpty = false
    /// Whether it contains the purchase that the app named.
    var isNamed: Bool { platform != .apple || purchase?.isNamed == true }
    /// The store's key of the subscription; the app's transaction id if the proof is unreadable.
    package var subscriptionKey: TransactionID
    package var environment: StoreEnvironment
    package var productID: ProductID?
    package var bundleID: BundleID?
    /// The subscription's period in the proof, or one for each product that is sold together: first the one of the posted
    /// offer, if the catalogue says which that is.
    var periods: [LedgerPeriod] = []
    var stored: Acceptance.Receipt
    /// The purchase in an App Store receipt; nil if it cannot be read.
    package var purchase: ReadPurchase?
    /// Nil if it is not a document of the App Store.
    var document: PurchaseDocument?
    /// Another store's result; nil if the store was not asked, or denied the purchase.
    package var found: ExternalSubscription?
    var isSignedTransaction: Bool { if case .signedTransaction = document { true } else { false } }
    /// The app's account token for the customer at the time of purchase, if the proof is genuine. From Apple, only
    /// signed transactions have one.
    package var accountToken: String? {
        guard verification == .genuine else { return nil }
        if case .signedTransaction(let transaction) = document { return transaction.payload.appAccountToken }
        return found?.accountToken
    }
    /// Transaction id as the app sent it.
    var sentTransactionID: TransactionID
    /// Transaction id in Apple's receipt; nil if the receipt has none (Xcode's).
    package var transactionID: TransactionID?
    /// Identity of the purchase. Different base64 spellings of a receipt have the same identity.
    var identity: [UInt8]
    /// Whether the subscription and the transaction identify the purchase, not the receipt: devices send validators a
    /// different receipt each time.
    private var isOneOfMany = false

    /// - Parameter transactionID: id that the app sent with it.
    package init(_ text: String, transactionID: TransactionID) {
        let utf8 = Array(text.utf8)
        isReadable = false
        subscriptionKey = transactionID
        sentTransactionID = transactionID
        environment = .unknown
        stored = Acceptance.Receipt(isText: true, bytes: Private(utf8))
        identity = utf8
        guard let data = try? ReceiptData(text) else { return }
        switch data {
        case .binary(let bytes) where bytes.isEmpty: break
        case .binary(let bytes):
            identity = bytes
            if Self.isCanonicalBase64(utf8, of: bytes.count) {
                stored = Acceptance.Receipt(isText: false, bytes: Private(bytes))
            }
        case .compactJWS(let characters): identity = characters
        }
        document = try? PurchaseDocument(data)
        guard let document else { return }
        let purchase: ReadPurchase
        do throws(ReceiptReadError) {
            purchase = try ReadPurchase(document, transactionId: transactionID)
        } catch {
            guard error == .noInAppPurchase, case .appReceipt(let signed) = document else { return }
            isEmpty = true
            bundleID = signed.receipt.bundleId
            let name = signed.receipt.environment.name
            if !name.text.isEmpty { environment = name }
            return
        }
        isReadable = true
        self.purchase = purchase
        self.transactionID = purchase.transactionId
        productID = purchase.productId
        bundleID = purchase.bundleId
        if let original = purchase.originalTransactionId {
            subscriptionKey = original
            environment = purchase.environment.name.isEmpty ? "unknown" : purchase.environment.name
        } else if [.xcode, .localTesting].contains(purchase.environment.kind) {
            environment = purchase.environment.name
        }
        periods = purchase.ledgerPeriods
    }

    package func name(of publisher: PublisherID) -> SubscriptionName {
        SubscriptionName(publisher: publisher, environment: environment, originalTransactionID: subscriptionKey)
    }

    /// Other subscriptions that Cleeng could give to the sender of the purchase: every one in the receipt, since Cleeng
    /// reads all of it, and the ids that the store links to the purchase.
    package func taken(of publisher: PublisherID) -> [SubscriptionName] {
        let own = name(of: publisher)
        if let found { return found.names(of: publisher).filter { $0 != own } }
        guard let purchase, !purchase.environment.name.isEmpty else { return [] }
        var ids = Set(purchase.periodsBySubscription.keys)
        if case .signedTransaction(let transaction) = document,
            let previous = transaction.payload.previousOriginalTransactionId, previous != "0"
        {
            ids.insert(previous)
        }
        var all = own
        all.environment = purchase.environment.name
        return ids.sorted().map(all.under).filter { $0 != own }
    }

    /// Puts the item first that belongs to an offer, if several items were bought together.
    ///
    /// - Parameter fits: whether the catalogue sells an item under the offer.
    mutating func choose(_ fits: (LedgerPeriod) -> Bool) {
        guard periods.count > 1, let chosen = periods.firstIndex(where: fits) else { return }
        periods.swapAt(0, chosen)
        productID = periods[0].productID
    }

    /// Makes the purchase independent of its receipt, which does not contain it. Neither of the two changes the other.
    mutating func standAlone() {
        subscriptionKey = sentTransactionID
        productID = nil
        periods = []
        transactionID = nil
    }

    /// Moves an unconfirmed purchase to the environment `unknown`, so that it cannot move, overtake or delay confirmed
    /// purchases. An Apple purchase is treated as unreadable from here on: data that Apple did not sign must not decide
    /// the subscription or product.
    mutating func distrust() {
        environment = .unknown
        guard platform == .apple else { return }
        standAlone()
        bundleID = nil
        purchase = nil
    }

    /// Reduces a validated receipt to one of its subscriptions.
    ///
    /// - Parameter running: the subscription's running purchase.
    package mutating func narrow(to name: SubscriptionName, _ running: CustomerPurchase) {
        if platform == .apple {
            subscriptionKey = name.originalTransactionID
            environment = name.environment
            periods = purchase?.periodsBySubscription[name.originalTransactionID] ?? []
            sentTransactionID = running.transactionID
            identity = Array(running.transactionID.text.utf8)
            isOneOfMany = true
        }
        choose { $0.productID == running.productID }
        productID = running.productID
    }

    /// SHA-256 that is the same for every repeat of the purchase.
    func purchaseKey(_ key: APIKey, _ customer: CustomerID, _ offer: OfferID) -> [UInt8] {
        let texts = [key.publisher.text, key.app.text, customer.text, offer.text]
        return isOneOfMany
            ? PurchaseDigest.of(
                ["validate"] + texts + [environment.text, subscriptionKey.text], identity: identity)
            : PurchaseDigest.of(texts, identity: identity)
    }

    /// Whether encoding the `count` decoded bytes gives exactly this text. Canonical base64 has no white space and no
    /// URL-safe characters, and is padded. The decoder has refused stray bits already.
    static func isCanonicalBase64(_ text: [UInt8], of count: Int) -> Bool {
        text.count == (count + 2) / 3 * 4 && text.withUnsafeBufferPointer(ByteScan.isBase64)
    }
}
