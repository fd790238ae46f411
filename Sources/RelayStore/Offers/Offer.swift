public import RelayCore

/// An offer of a publisher at Cleeng, and the products of stores that it is sold as.
public struct Offer: Sendable, Hashable {
    /// A coupon that Cleeng knows for the offer.
    public struct Coupon: Sendable, Hashable {
        public var code: CouponID
        public var campaign: String

        public init(code: CouponID, campaign: String = "") {
            self.code = code
            self.campaign = campaign
        }
    }

    public var id: OfferID
    public var name: String
    /// With the store before each: `apple:com.example.month`.
    public var products: [ProductID]
    public var coupons: [Coupon]

    public init(id: OfferID, name: String = "", products: [ProductID] = [], coupons: [Coupon] = []) {
        self.id = id
        self.name = name
        self.products = products
        self.coupons = coupons
    }
}

/// An offer of purchases that has no products, or a product of its purchases that it does not have.
public struct UnmappedOffer: Sendable, Hashable {
    public var publisher: PublisherID
    public var offerID: OfferID
    /// The product that was bought; nil where the receipt could not be read.
    public var product: ProductID?
    public var purchases: Int
    /// Whether the offer has products.
    public var isMapped: Bool
}
