import AppleStore
import RelayCore
import RelayStore

/// What the relay makes of a receipt on its way in. Nothing is verified here, and nothing that cannot be read is refused.
struct ReadReceipt: Sendable {
    var isReadable: Bool
    /// It is a receipt and holds no purchase: what is used up and what ends by itself vanishes from receipts.
    var isEmpty = false
    /// Whether it holds the purchase that the app spoke of.
    var isNamed: Bool { purchase?.isNamed == true }
    /// The original transaction id, else the app's own.
    var subscriptionKey: TransactionID
    var environment: StoreEnvironment
    var productID: ProductID?
    var bundleID: BundleID?
    /// What it says of the subscription's life; nil where it says nothing of one.
    var period: LedgerPeriod?
    var stored: Acceptance.Receipt
    /// Nil where it cannot be read.
    var purchase: ReadPurchase?
    /// Nil where it is none of what the App Store gives out.
    var document: PurchaseDocument?
    var isSignedTransaction: Bool { if case .signedTransaction = document { true } else { false } }
    /// The app's own name for its customer at the time of purchase. Only signed transactions can have one.
    var accountToken: String? {
        if case .signedTransaction(let transaction) = document { transaction.payload.appAccountToken } else { nil }
    }
    /// Transaction id that counts, from the receipt; nil if the receipt has none (Xcode's).
    var transactionID: TransactionID?
    /// Identity of the purchase: the same for the same receipt in another spelling of base64.
    var identity: [UInt8]

    /// - Parameter transactionID: what the app sent beside it.
    init(_ text: String, transactionID: TransactionID) {
        let utf8 = Array(text.utf8)
        isReadable = false
        subscriptionKey = transactionID
        environment = "unknown"
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

    /// The receipt names other purchases than this one, which is independent: it moves, ends and is ended by nothing else in it.
    ///
    /// - Parameter transactionID: what the app sent beside it.
    mutating func standAlone(transactionID: TransactionID) {
        subscriptionKey = transactionID
        productID = nil
        period = nil
        self.transactionID = nil
    }

    /// What Apple did not sign decides neither whose subscription it is nor what was bought: from now on it is known as one that cannot be
    /// read is, by what the app sent beside it.
    ///
    /// - Parameter transactionID: what the app sent beside it.
    mutating func distrust(transactionID: TransactionID) {
        subscriptionKey = transactionID
        environment = "unknown"
        productID = nil
        bundleID = nil
        period = nil
        purchase = nil
        self.transactionID = nil
    }

    /// Whether encoding the `count` bytes that this text was decoded to gives the very same text. Base64 has one standard
    /// spelling: no white space, no URL-safe characters, padded to full length; the decoder has refused stray bits already.
    static func isCanonicalBase64(_ text: [UInt8], of count: Int) -> Bool {
        text.count == (count + 2) / 3 * 4 && text.withUnsafeBufferPointer(ByteScan.isBase64)
    }
}
