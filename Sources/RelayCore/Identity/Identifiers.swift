/// Names that the database keeps as they are.
public protocol PlainName {}

/// Names of people, which the database keeps sealed where encryption is on. They are read and written by other calls than
/// plain ones, so that the compiler finds a reader that forgets to open one and a writer that forgets to seal it.
public protocol PrivateName {}

/// What an ``Identifier`` names.
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
/// An email as it was sent, without surrounding space.
public typealias EmailAddress = Identifier<Named.Email>
/// Where a store sold: `Production`, `Sandbox`, `Xcode`, `LocalTesting`, or `unknown`.
public typealias StoreEnvironment = Identifier<Named.Environment>
/// An offer at Cleeng (`S598742062_US`).
public typealias OfferID = Identifier<Named.Offer>
/// A product at a store.
public typealias ProductID = Identifier<Named.Product>
/// A publisher whose rows these are.
public typealias PublisherID = Identifier<Named.Publisher>
/// A tag of content at Cleeng, which offers open.
public typealias TagID = Identifier<Named.Tag>
/// A transaction at a store, or a subscription by its first transaction; other stores' have their prefix (`google:…`).
public typealias TransactionID = Identifier<Named.Transaction>
/// The publisher's own name for a customer.
public typealias Username = Identifier<Named.User>

extension TransactionID {
    /// As numbers written as text, of any length.
    public func isLower(than other: TransactionID) -> Bool { (utf8.count, self) < (other.utf8.count, other) }
}

extension StoreEnvironment {
    public static let production: Self = "Production"
    public static let sandbox: Self = "Sandbox"
    /// Environment of a purchase that no store has signed.
    public static let unknown: Self = "unknown"
}
