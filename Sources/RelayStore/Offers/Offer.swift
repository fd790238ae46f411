public import RelayCore

/// What a publisher sells at Cleeng, and as which products of which stores.
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

/// An offer that purchases name and of which no product is known, or a product that none of its purchases should have.
public struct UnmappedOffer: Sendable, Hashable {
    public var publisher: PublisherID
    public var offerID: OfferID
    /// What was bought under it; nil where that could not be read.
    public var product: ProductID?
    public var purchases: Int
    /// Whether products of the offer are known at all.
    public var isMapped: Bool
}
