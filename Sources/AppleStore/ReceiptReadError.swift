/// Why no purchase could be read. Says nothing of the content, so it may be logged and counted.
public struct ReceiptReadError: Error, Sendable, Hashable, CustomStringConvertible {
    private enum Code: String {
        case empty, tooLarge, notBase64, notPKCS7, malformedPayload, noInAppPurchase, malformedTransactionReceipt
        case malformedJWS, appTransaction, notATransaction
    }

    private let code: Code

    /// Nothing but white space was sent.
    public static let empty = Self(code: .empty)
    /// Larger, or of more parts, than ``ReceiptLimits`` allows.
    public static let tooLarge = Self(code: .tooLarge)
    /// Neither base64, standard or URL-safe, nor a compact JWS.
    public static let notBase64 = Self(code: .notBase64)
    /// Base64 of something that is no PKCS#7 signed data (and no transaction receipt).
    public static let notPKCS7 = Self(code: .notPKCS7)
    /// Signed data whose content is not a receipt.
    public static let malformedPayload = Self(code: .malformedPayload)
    /// A good receipt in which nothing was bought.
    public static let noInAppPurchase = Self(code: .noInAppPurchase)
    /// Begins like an iOS 6 transaction receipt and is none.
    public static let malformedTransactionReceipt = Self(code: .malformedTransactionReceipt)
    /// Has the dots of a compact JWS and is none.
    public static let malformedJWS = Self(code: .malformedJWS)
    /// A StoreKit 2 app transaction: it proves the purchase of the app, and holds no in-app purchase.
    public static let appTransaction = Self(code: .appTransaction)
    /// A JWS that is neither a transaction nor an app transaction.
    public static let notATransaction = Self(code: .notATransaction)

    /// One of ten fixed words, fit for a metric's label.
    public var shortDescription: String { code.rawValue }

    public var description: String { "ReceiptReadError(\(code.rawValue))" }
}
