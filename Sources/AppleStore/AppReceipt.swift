public import RelayCore

/// What an app receipt (StoreKit 1) says, as far as anything rests on it; "attribute n" names the type number of each field.
///
/// Source of names and encodings: Apple, Receipt Validation Programming Guide, "Receipt Fields", and for the numbers
/// missing there, what receipts were seen to hold. An attribute that is missing, empty or unreadable is nil; of an
/// attribute that comes twice the first readable one counts; unknown ones are passed over, as Apple asks.
public struct AppReceipt: Sendable, Hashable {
    /// Attribute 0, observed, not documented: `Production`, `ProductionSandbox`, `Xcode`.
    public var environment = AppleEnvironment.unnamed
    /// Attribute 1, observed: the App Store's number of the app; 0 in the sandbox.
    public var appId: Int64?
    /// Attribute 2.
    public var bundleId: BundleID?
    /// Attribute 12: when the receipt was made, which is the time that its certificates are judged at.
    public var creationDate: AppleTimestamp?
    /// Attribute 17, one for each purchase, in no meaningful order.
    public var inAppPurchases: [PurchaseEntry] = []
}

extension AppReceipt {
    /// Reads the payload of a receipt: a SET of attributes, in any order. What decides whose receipt it is, and when it was made, stands in it
    /// once: of two the reader here might take one and another reader the other.
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

    /// Nil where the type is a number that nobody uses.
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
    /// Whether anything at all was written, readable or not.
    var isPresent: Bool { characters?.isEmpty == false }
}
