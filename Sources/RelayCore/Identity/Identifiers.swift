/// What an ``Identifier`` names.
public enum Named {
    public enum Account {}
    public enum APIKey {}
    public enum Bundle {}
    public enum Coupon {}
    public enum Customer {}
    public enum Email {}
    public enum Environment {}
    public enum Offer {}
    public enum Product {}
    public enum Publisher {}
    public enum Tag {}
    public enum Transaction {}
    public enum User {}
}

/// An API key's public part: sixteen hexadecimal digits.
public typealias APIKeyID = Identifier<Named.APIKey>
/// An app's bundle id (`com.example.app`), or its package name at Google.
public typealias BundleID = Identifier<Named.Bundle>
/// A coupon code at Cleeng.
public typealias CouponID = Identifier<Named.Coupon>
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

extension StoreEnvironment {
    public static let production: Self = "Production"
    public static let sandbox: Self = "Sandbox"
    /// Of what no store has signed.
    public static let unknown: Self = "unknown"
}
