/// Attributes of an auto-renewable subscription. A test can replace each.
struct WrittenPurchase {
    var attributes: [(type: Int64, value: [UInt8])]

    init(
        product: String = "com.example.month", id: String, original: String?, purchased: String,
        expires: String? = nil, cancelled: String? = nil, type: Int64? = 3
    ) {
        attributes = [
            (1701, BERWriter.integer(1)),
            (1702, BERWriter.utf8(product)),
            (1703, BERWriter.utf8(id)),
            (1704, BERWriter.ia5(purchased)),
            (1706, BERWriter.ia5("2025-01-01T00:00:00Z")),
            (1708, BERWriter.ia5(expires ?? "")),
            (1709, BERWriter.ia5("")),
            (1711, BERWriter.integer(expires == nil ? 0 : 340_000_594_256_018)),
            (1712, BERWriter.ia5(cancelled ?? "")),
            (1713, BERWriter.integer(0)),
            (1719, BERWriter.integer(1)),
            (1721, BERWriter.utf8("offer-1")),
            (1722, BERWriter.integer(0)),
        ]
        if let original { attributes.append((1705, BERWriter.utf8(original))) }
        if let type { attributes.append((1707, BERWriter.integer(type))) }
    }

    mutating func replace(_ type: Int64, _ value: [UInt8]) {
        attributes.removeAll { $0.type == type }
        attributes.append((type, value))
    }
}
