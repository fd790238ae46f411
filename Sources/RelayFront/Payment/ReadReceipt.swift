import AppleStore
import RelayCore
import RelayStore

/// What the relay makes of a purchase's proof on its way in, at any store. Nothing is verified here, and nothing that cannot be read is
/// refused.
struct ReadReceipt: Sendable {
    var platform = StorePlatform.apple
    var verification = Verification.notChecked
    var isReadable: Bool
    /// It is a receipt and holds no purchase: what is used up and what ends by itself vanishes from receipts.
    var isEmpty = false
    /// Whether it holds the purchase that the app spoke of.
    var isNamed: Bool { platform != .apple || purchase?.isNamed == true }
    /// What the store knows the subscription by, else what the app does.
    var subscriptionKey: TransactionID
    var environment: StoreEnvironment
    var productID: ProductID?
    var bundleID: BundleID?
    /// What it says of the subscription's life; nil where it says nothing of one.
    var period: LedgerPeriod?
    var stored: Acceptance.Receipt
    /// The purchase in a receipt of the App Store; nil where it cannot be read.
    var purchase: ReadPurchase?
    /// Nil where it is none of what the App Store gives out.
    var document: PurchaseDocument?
    /// What another store shows of it; nil where it was not asked, or says no.
    var found: ExternalSubscription?
    var isSignedTransaction: Bool { if case .signedTransaction = document { true } else { false } }
    /// The app's own name for its customer at the time of purchase, if the proof is genuine. Of Apple's only signed transactions have one.
    var accountToken: String? {
        guard verification == .genuine else { return nil }
        if case .signedTransaction(let transaction) = document { return transaction.payload.appAccountToken }
        return found?.accountToken
    }
    /// The transaction as the app names it.
    var sentTransactionID: TransactionID
    /// Transaction id that counts, from Apple's receipt; nil if the receipt has none (Xcode's).
    var transactionID: TransactionID?
    /// Identity of the purchase: the same for the same receipt in another spelling of base64.
    var identity: [UInt8]
    /// Whether the purchase is known by its subscription and transaction: a device sends a validator another receipt each time.
    private var isOneOfMany = false

    /// - Parameter transactionID: what the app sent beside it.
    init(_ text: String, transactionID: TransactionID) {
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
        period = purchase.ledgerPeriod
    }

    func name(of publisher: PublisherID) -> SubscriptionName {
        SubscriptionName(publisher: publisher, environment: environment, originalTransactionID: subscriptionKey)
    }

    /// The receipt names other purchases than this one, which is independent: it moves, ends and is ended by nothing else in it.
    mutating func standAlone() {
        subscriptionKey = sentTransactionID
        productID = nil
        period = nil
        transactionID = nil
    }

    /// What no store has confirmed moves, overtakes and holds up nothing that one has: it stands in an environment of its own. What Apple did
    /// not sign decides neither whose subscription it is nor what was bought: from now on it is known as one that cannot be read is.
    mutating func distrust() {
        environment = .unknown
        guard platform == .apple else { return }
        standAlone()
        bundleID = nil
        purchase = nil
    }

    /// Narrows a validated receipt to one subscription that was found in it.
    ///
    /// - Parameter running: the subscription's purchase that runs.
    mutating func narrow(to name: SubscriptionName, _ running: CustomerPurchase) {
        productID = running.productID
        guard platform == .apple else { return }
        subscriptionKey = name.originalTransactionID
        environment = name.environment
        period = purchase?.ledgerPeriods[name.originalTransactionID]
        sentTransactionID = running.transactionID
        identity = Array(running.transactionID.text.utf8)
        isOneOfMany = true
    }

    /// SHA-256 by which the purchase is known: the same for each repeat.
    func purchaseKey(_ key: APIKey, _ customer: CustomerID, _ offer: OfferID) -> [UInt8] {
        let texts = [key.publisher.text, key.app.text, customer.text, offer.text]
        return isOneOfMany
            ? PurchaseDigest.of(
                ["validate"] + texts + [environment.text, subscriptionKey.text], identity: identity)
            : PurchaseDigest.of(texts, identity: identity)
    }

    /// Whether encoding the `count` bytes that this text was decoded to gives the very same text. Base64 has one standard
    /// spelling: no white space, no URL-safe characters, padded to full length; the decoder has refused stray bits already.
    static func isCanonicalBase64(_ text: [UInt8], of count: Int) -> Bool {
        text.count == (count + 2) / 3 * 4 && text.withUnsafeBufferPointer(ByteScan.isBase64)
    }
}
