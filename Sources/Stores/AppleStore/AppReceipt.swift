public import RelayCore

/// The fields of an app receipt (StoreKit 1) that the relay uses. "Attribute n" is the type number of a field.
///
/// Source of names and encodings: Apple, Receipt Validation Programming Guide, "Receipt Fields". Numbers missing there
/// were observed in receipts. A missing, empty or unreadable attribute is nil. Of a repeated attribute the first
/// readable one counts. Unknown ones are ignored, as Apple asks.
public struct AppReceipt: Sendable, Hashable {
    /// Attribute 0, observed, not documented: `Production`, `ProductionSandbox`, `Xcode`.
    public var environment = AppleEnvironment.unnamed
    /// Attribute 1, observed: the App Store's number of the app; 0 in the sandbox.
    public var appId: Int64?
    /// Attribute 2.
    public var bundleId: BundleID?
    /// Attribute 12: when the receipt was made. Its certificates are verified as of that time.
    public var creationDate: AppleTimestamp?
    /// Attribute 17, one for each purchase, in no meaningful order.
    public var inAppPurchases: [PurchaseEntry] = []
}

extension AppReceipt {
    /// Reads the payload of a receipt: a SET of attributes, in any order. Attributes that decide whose receipt it is,
    /// and when it was made, must appear only once. Otherwise two readers could choose different ones.
    init(_ payload: BEROctets) throws(BERError) {
        let document = payload.document
        var cursor = try document.only(payload.root, BERTag.set).children
        var count = 0
        var deciding: Set<Int64> = []
        while let element = try document.next(&cursor) {
            count += 1
            guard count <= ReceiptLimits.receiptAttributes else { throw .limitExceeded }
            guard let attribute = try ReceiptAttribute(document, element) else { continue }
            if [0, 1, 2, 12].contains(attribute.type), !deciding.insert(attribute.type).inserted {
                throw .unexpectedElement
            }
            try read(attribute)
        }
    }

    private mutating func read(_ attribute: ReceiptAttribute) throws(BERError) {
        switch attribute.type {
        case 0: if environment == .unnamed { environment = AppleEnvironment(raw: attribute.text ?? "") }
        case 1: appId = appId ?? attribute.integer
        case 2: bundleId = bundleId ?? BundleID(attribute.text)
        case 12: creationDate = creationDate ?? attribute.date
        case 17:
            guard inAppPurchases.count < ReceiptLimits.inAppPurchases else { throw .limitExceeded }
            inAppPurchases.append(try PurchaseEntry(attribute.octets))
        default: break
        }
    }
}

/// One attribute of a receipt or of a purchase in it: `SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`.
/// The value is, for most types, one more element.
struct ReceiptAttribute {
    let type: Int64
    let octets: BEROctets

    /// Nil if the type number does not fit.
    init?(_ document: BERDocument, _ element: BERElement) throws(BERError) {
        guard element.identifier == BERTag.sequence else { throw .unexpectedElement }
        var fields = element.children
        let type = document.integer(try document.next(&fields, BERTag.integer))
        _ = try document.next(&fields, BERTag.integer)
        guard let value = try document.next(&fields) else { throw .unexpectedElement }
        guard let type else { return nil }
        self.type = type
        octets = try document.octets(value)
    }

    private var value: BERElement? {
        var cursor = octets.root
        guard let value = try? octets.document.next(&cursor), cursor.isAtEnd else { return nil }
        return value
    }

    private var characters: ArraySlice<UInt8>? {
        guard let value else { return nil }
        let tag = value.identifier & ~BERTag.constructedBit
        guard tag == BERTag.utf8String || tag == BERTag.ia5String || tag == BERTag.printableString else { return nil }
        return try? octets.document.octets(value, tag).bytes
    }

    var integer: Int64? { value.flatMap(octets.document.integer) }
    var text: String? { characters.flatMap(StoreText.text) }
    var identifier: String? { characters.flatMap(StoreText.identifier) }
    var date: AppleTimestamp? { characters.flatMap(AppleTimestamp.init(text:)) }
    /// Whether anything was written, readable or not.
    var isPresent: Bool { characters?.isEmpty == false }
}
