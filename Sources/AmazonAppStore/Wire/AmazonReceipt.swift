import OutboundHTTP
public import RelayCore
import StoreAPI

/// A purchase as the Receipt Verification Service tells of it. What Amazon adds or leaves out breaks nothing.
public struct AmazonReceipt: Sendable, Hashable {
    /// Of a subscription the same one over all renewals.
    public var receiptID: String
    /// As Amazon writes it, known to this program or not: `SUBSCRIPTION`, `ENTITLED`, `CONSUMABLE`.
    public var productType: String
    /// Of a subscription the parent's: `termSKU` says for which term it was bought.
    public var productID: ProductID
    public var parentProductID: String?
    public var purchaseDate: Timestamp?
    /// When the period ends, and the next one is to be paid.
    public var renewalDate: Timestamp?
    /// When it ended: at once where customer service ended it, else at the end of the period. Nil where it runs.
    public var cancelDate: Timestamp?
    /// 0 not known yet, 1 the customer, 2 Amazon, such as for a payment that failed, 4 replaced by another; 3 is Amazon's own.
    public var cancelReason: Int64?
    public var autoRenewing: Bool?
    public var gracePeriodEndDate: Timestamp?
    public var freeTrialEndDate: Timestamp?
    /// Such as `1 Month`.
    public var term: String?
    public var termSKU: String?
    /// The product that comes next, and from when on.
    public var deferredSKU: String?
    public var deferredDate: Timestamp?
    /// `promotionType` of those that run: `Introductory Price - …`, `Promotional Price - …`.
    public var runningPromotions: [String]
    public var quantity: Int64?
    public var isTestTransaction: Bool
    public var isBetaProduct: Bool

    private static let mostPromotions = 20

    /// Nil for what names no product.
    init?(_ json: JSONValue, receiptID: String) {
        guard let product = json["productId"]?.text, let type = json["productType"]?.text else { return nil }
        // Who asks by one name must not be told of another.
        guard json["receiptId"].map({ TransactionID($0.text) == TransactionID(receiptID) }) ?? true else { return nil }
        self.receiptID = receiptID
        productType = type
        productID = ProductID(product)
        parentProductID = json["parentProductId"]?.text
        purchaseDate = json["purchaseDate"]?.moment
        renewalDate = json["renewalDate"]?.moment
        cancelDate = json["cancelDate"]?.moment
        cancelReason = json["cancelReason"]?.integer
        autoRenewing = json["autoRenewing"]?.flag
        gracePeriodEndDate = json["gracePeriodEndDate"]?.moment
        freeTrialEndDate = json["freeTrialEndDate"]?.moment
        term = json["term"]?.text
        termSKU = json["termSku"]?.text
        deferredSKU = json["deferredSku"]?.text
        deferredDate = json["deferredDate"]?.moment
        runningPromotions = (json["promotions"]?.list ?? []).prefix(Self.mostPromotions)
            .filter { $0["promotionStatus"]?.text == "InProgress" }.compactMap { $0["promotionType"]?.text }
        quantity = json["quantity"]?.integer
        isTestTransaction = json["testTransaction"]?.flag ?? false
        isBetaProduct = json["betaProduct"]?.flag ?? false
    }
}
