/// Kinds of names that the database stores as plain text.
public protocol PlainName {}

/// Kinds of people's names, which the database stores sealed if encryption is on. They are read and written by calls of
/// their own: the compiler finds a reader that forgets to open one, and a writer that forgets to seal it.
public protocol PrivateName {}

/// The kinds of an ``Identifier``.
public enum Named {
    public enum APIKey: PlainName {}
    public enum Bundle: PlainName {}
    public enum Coupon: PlainName {}
    public enum Customer: PrivateName {}
    public enum Discount: PlainName {}
    public enum Email: PrivateName {}
    public enum Environment: PlainName {}
    public enum Offer: PlainName {}
    public enum Product: PlainName {}
    public enum Publisher: PlainName {}
    public enum Tag: PlainName {}
    public enum Transaction: PlainName {}
    public enum User: PrivateName {}
}

/// An API key's public part: sixteen hexadecimal digits.
public typealias APIKeyID = Identifier<Named.APIKey>
/// An app's bundle id (`com.example.app`), or its package name at Google.
public typealias BundleID = Identifier<Named.Bundle>
/// A coupon code at Cleeng.
public typealias CouponID = Identifier<Named.Coupon>
/// A store's own name for an offer that was redeemed.
public typealias DiscountID = Identifier<Named.Discount>
/// A customer's email, trimmed and with its ASCII letters in lower case: see ``CustomerEmail/customer``.
public typealias CustomerID = Identifier<Named.Customer>
/// An email as the app sent it, without surrounding space.
public typealias EmailAddress = Identifier<Named.Email>
/// The store's environment of a purchase: `Production`, `Sandbox`, `Xcode`, `LocalTesting`, or `unknown`.
public typealias StoreEnvironment = Identifier<Named.Environment>
/// An offer at Cleeng (`S598742062_US`).
public typealias OfferID = Identifier<Named.Offer>
/// A product at a store.
public typealias ProductID = Identifier<Named.Product>
/// The publisher that owns a row.
public typealias PublisherID = Identifier<Named.Publisher>
/// A tag of content at Cleeng, which offers give access to.
public typealias TagID = Identifier<Named.Tag>
/// A store's id of a transaction. A subscription's key is its first transaction; keys of stores other than Apple have a
/// prefix (`google:…`).
public typealias TransactionID = Identifier<Named.Transaction>
/// The publisher's own name for a customer.
public typealias Username = Identifier<Named.User>

extension TransactionID {
    /// Compares decimal numbers of any length, written as text.
    public func isLower(than other: TransactionID) -> Bool { (utf8.count, self) < (other.utf8.count, other) }
}

extension StoreEnvironment {
    public static let production: Self = "Production"
    public static let sandbox: Self = "Sandbox"
    /// Environment of a purchase that no store has signed.
    public static let unknown: Self = "unknown"
    /// All that Apple signs.
    static let ofApple: [Self] = [production, sandbox, "Xcode", "LocalTesting"]
}
