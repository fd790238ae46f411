public import RelayCore

/// One item of an Advanced Commerce purchase (App Store Server API, `AdvancedCommerceTransactionItem`,
/// `AdvancedCommerceRenewalItem`). Its SKU says what was bought: the product id of the transaction is generic.
public struct CommerceItem: Sendable, Hashable {
    public var sku: ProductID
    public var revocationDate: AppleTimestamp?
    /// Whether a revocation is present, readable or not. A refund may concern one item alone.
    public var isRevoked = false
}

/// `advancedCommerceInfo` of a transaction or of renewal information.
struct CommerceInfo: Decodable {
    var items: [CommerceItem] = []
    /// Whether the SKU of every item was read. In the ledger, an item that is left out would end.
    var isReadable = true

    private enum Key: CodingKey { case items }
    private enum ItemKey: String, CodingKey {
        case sku = "SKU"
        case revocationDate
    }

    /// More items would not fit in a ledger.
    private static let mostItems = 16

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        guard var list = try? fields.nestedUnkeyedContainer(forKey: .items) else { return }
        while !list.isAtEnd {
            guard items.count < Self.mostItems, let item = try? list.nestedContainer(keyedBy: ItemKey.self),
                let sku: ProductID = item.text(.sku)
            else {
                isReadable = false
                return
            }
            let isRevoked =
                item.contains(.revocationDate) && (try? item.decodeNil(forKey: .revocationDate)) == false
            items.append(
                CommerceItem(sku: sku, revocationDate: item.date(.revocationDate), isRevoked: isRevoked))
        }
    }
}
