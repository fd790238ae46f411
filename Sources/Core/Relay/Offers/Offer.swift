public import RelayCore

/// An offer of a publisher at Cleeng, and the stores' products that belong to it.
public struct Offer: Sendable, Hashable {
    /// A coupon of the offer at Cleeng.
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
    /// Products with the store's prefix: `apple:com.example.month`.
    public var products: [ProductID]
    public var coupons: [Coupon]

    public init(id: OfferID, name: String = "", products: [ProductID] = [], coupons: [Coupon] = []) {
        self.id = id
        self.name = name
        self.products = products
        self.coupons = coupons
    }
}

/// A mismatch between purchases and the catalogue: an offer without products, or a purchased product that its offer
/// lacks.
public struct UnmappedOffer: Sendable, Hashable {
    public var publisher: PublisherID
    public var offerID: OfferID
    /// The purchased product; nil if the receipt could not be read.
    public var product: ProductID?
    public var purchases: Int
    /// Whether the offer has products.
    public var isMapped: Bool
}
