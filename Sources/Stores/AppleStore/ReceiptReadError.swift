/// Why no purchase could be read. Holds nothing of the content, so it may be logged and counted.
public enum ReceiptReadError: Error, Sendable {
    /// The text is empty or only white space.
    case empty
    /// Larger, or with more parts, than ``ReceiptLimits`` allows.
    case tooLarge
    /// Neither base64, standard or URL-safe, nor a compact JWS.
    case notBase64
    /// Base64 of data that is neither PKCS#7 signed data nor a transaction receipt.
    case notPKCS7
    /// Signed data whose content is not a receipt.
    case malformedPayload
    /// A valid receipt without purchases.
    case noInAppPurchase
    /// Begins like an iOS 6 transaction receipt, but is malformed.
    case malformedTransactionReceipt
    /// Has the dots of a compact JWS, but is malformed.
    case malformedJWS
    /// A StoreKit 2 app transaction: it proves the purchase of the app, but holds no in-app purchase.
    case appTransaction
    /// A JWS that is neither a transaction nor an app transaction.
    case notATransaction
}

/// Limits of what is read. Each is several times the largest value observed. They keep work and memory proportional to
/// the bytes that a hostile sender posts.
public enum ReceiptLimits {
    /// UTF-8 bytes of a receipt as text: 10,000 purchases of some 410 bytes each are 5.5 MB of base64.
    public static let textBytes = 8 << 20
    /// Purchases (attribute 17) in one receipt; the largest seen holds 187.
    public static let inAppPurchases = 10_000
    /// Attributes of the receipt itself, purchases included.
    static let receiptAttributes = 11_000
    /// Attributes of one purchase; Apple writes about 20.
    static let purchaseAttributes = 128
    /// Certificates in one signature; Apple sends 3.
    static let certificates = 16
    static let certificateBytes = 16 << 10
    /// Signers of one receipt; Apple writes 1.
    static let signers = 4
    /// One signer's fields, signed attributes and names included.
    static let signerBytes = 64 << 10
    /// UTF-8 bytes of a compact JWS: a transaction has about 5 KB, a notification 20 KB.
    public static let jwsBytes = 256 << 10
    /// Bytes of an old transaction receipt, decoded; they have 2 to 4 KB.
    static let transactionReceiptBytes = 64 << 10
    static let propertyListEntries = 128
    /// A transaction id: Apple's have 15 to 19 digits.
    static let identifierBytes = 64
    /// Any other text: Apple limits bundle and product ids to 255 bytes.
    static let textValueBytes = 255
}
