import Crypto
import CryptoExtras
public import Foundation
import SwiftASN1
import X509

/// Content of an app receipt. Source of the numbers and encodings: Apple, Receipt Validation Programming Guide,
/// "Receipt Fields", and observed receipts.
public struct SimulatedReceipt: Sendable {
    public struct Purchase: Sendable {
        public var productId: String
        public var transactionId: String
        public var originalTransactionId: String
        public var purchaseDate: Date
        public var originalPurchaseDate: Date
        public var expiresDate: Date?
        public var cancellationDate: Date?
        /// Nil leaves it out.
        public var webOrderLineItemId: Int64?

        public init(
            productId: String, transactionId: String, originalTransactionId: String, purchaseDate: Date,
            originalPurchaseDate: Date, expiresDate: Date?, cancellationDate: Date? = nil,
            webOrderLineItemId: Int64? = nil
        ) {
            self.productId = productId
            self.transactionId = transactionId
            self.originalTransactionId = originalTransactionId
            self.purchaseDate = purchaseDate
            self.originalPurchaseDate = originalPurchaseDate
            self.expiresDate = expiresDate
            self.cancellationDate = cancellationDate
            self.webOrderLineItemId = webOrderLineItemId
        }
    }

    /// `Production`, `ProductionSandbox` or `Xcode`.
    public var environment: String
    public var bundleId: String
    /// Nil leaves it out, which no real receipt does.
    public var creationDate: Date?
    public var purchases: [Purchase]

    public init(environment: String, bundleId: String, creationDate: Date?, purchases: [Purchase]) {
        self.environment = environment
        self.bundleId = bundleId
        self.creationDate = creationDate
        self.purchases = purchases
    }

    /// The signed octets.
    var payload: [UInt8] {
        var attributes = [
            Self.attribute(0, .utf8String(environment)), Self.attribute(2, .utf8String(bundleId)),
            Self.attribute(3, .utf8String("1")), Self.attribute(4, DERItem(contents: [0x5A, 0x5A])),
            Self.attribute(5, DERItem(contents: [UInt8](repeating: 7, count: 20))),
            Self.attribute(19, .utf8String("1.0")),
        ]
        if let creationDate { attributes.append(Self.attribute(12, Self.date(creationDate))) }
        attributes += purchases.map { Self.attribute(17, Self.item($0)) }
        return DERItem.set(attributes).encoded
    }

    private static func item(_ purchase: Purchase) -> DERItem {
        var attributes: [DERItem] = [
            attribute(1701, .integer(1)), attribute(1702, .utf8String(purchase.productId)),
            attribute(1703, .utf8String(purchase.transactionId)), attribute(1704, date(purchase.purchaseDate)),
            attribute(1705, .utf8String(purchase.originalTransactionId)),
            attribute(1706, date(purchase.originalPurchaseDate)),
            attribute(1708, purchase.expiresDate.map(date) ?? .ia5String("")),
            attribute(1712, purchase.cancellationDate.map(date) ?? .ia5String("")),
            attribute(1707, .integer(purchase.expiresDate == nil ? 0 : 3)),
        ]
        if let line = purchase.webOrderLineItemId { attributes.append(attribute(1711, .integer(Int(line)))) }
        return .set(attributes)
    }

    private static func attribute(_ type: Int, _ value: DERItem) -> DERItem {
        .sequence([.integer(type), .integer(1), .octetString(value.encoded)])
    }

    private static func date(_ date: Date) -> DERItem {
        .ia5String(date.formatted(.iso8601))
    }
}

extension StoreAuthority {
    /// Hash of a receipt's signature. The App Store changed from the first to the second in 2023.
    public enum ReceiptDigest: Sendable, CaseIterable {
        case sha1, sha256
    }

    /// An app receipt in the App Store's form: PKCS#7 without signed attributes, with a signature over the payload.
    ///
    /// - Parameter certificates: replace this authority's own in the receipt.
    /// - Throws: if this authority's key does not suit receipts.
    public func sign(
        _ receipt: SimulatedReceipt, digest: ReceiptDigest = .sha256, certificates: [[UInt8]]? = nil
    ) throws -> [UInt8] {
        guard case .rsa(let key) = key else { throw WrongKey() }
        let payload = receipt.payload
        let signature =
            switch digest {
            case .sha1: try key.signature(for: Insecure.SHA1.hash(data: payload), padding: .insecurePKCS1v1_5)
            case .sha256: try key.signature(for: SHA256.hash(data: payload), padding: .insecurePKCS1v1_5)
            }
        let digestAlgorithm = DERItem.sequence([.objectIdentifier(digest.identifier), .null])
        var issuer = DER.Serializer()
        try issuer.serialize(leaf.issuer)
        let signer = DERItem.sequence([
            .integer(1),
            .sequence([
                DERItem(contents: issuer.serializedBytes), .integer(contents: Array(leaf.serialNumber.bytes)),
            ]),
            digestAlgorithm, .sequence([.objectIdentifier(Self.rsaEncryption), .null]),
            .octetString(Array(signature.rawRepresentation)),
        ])
        let signedData = DERItem.sequence([
            .integer(1), .set([digestAlgorithm]),
            .sequence([.objectIdentifier(Self.data), .explicit(0, [.octetString(payload)])]),
            .explicit(0, (certificates ?? self.certificates).map { DERItem(contents: $0) }), .set([signer]),
        ])
        return DERItem.sequence([.objectIdentifier(Self.signedData), .explicit(0, [signedData])]).encoded
    }

    // RFC 5652, sections 4 and 5.1; RFC 8017, appendix C.
    private static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
    private static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
    private static let rsaEncryption: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
}

extension StoreAuthority.ReceiptDigest {
    var identifier: [UInt8] {
        switch self {
        case .sha1: [0x2B, 0x0E, 0x03, 0x02, 0x1A]
        case .sha256: [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]
        }
    }
}

/// One item in DER (X.690), built from the inside out.
struct DERItem {
    let encoded: [UInt8]

    /// Bytes that are already encoded.
    init(contents: [UInt8]) { encoded = contents }

    private init(_ identifier: UInt8, _ contents: [UInt8]) {
        var length: [UInt8] = []
        var rest = contents.count
        while rest > 0 {
            length.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        let head: [UInt8] =
            contents.count < 0x80 ? [UInt8(contents.count)] : [0x80 | UInt8(length.count)] + length
        encoded = [identifier] + head + contents
    }

    static func sequence(_ items: [DERItem]) -> DERItem { DERItem(0x30, items.flatMap(\.encoded)) }
    static func set(_ items: [DERItem]) -> DERItem { DERItem(0x31, items.flatMap(\.encoded)) }
    static func explicit(_ number: UInt8, _ items: [DERItem]) -> DERItem {
        DERItem(0xA0 | number, items.flatMap(\.encoded))
    }
    static func octetString(_ bytes: [UInt8]) -> DERItem { DERItem(0x04, bytes) }
    /// Whole octets.
    static func bitString(_ bytes: [UInt8]) -> DERItem { DERItem(0x03, [0] + bytes) }
    static func enumerated(_ value: UInt8) -> DERItem { DERItem(0x0A, [value]) }
    /// NULL with a context-specific number.
    static func implicitNull(_ number: UInt8) -> DERItem { DERItem(0x80 | number, []) }
    /// A time in whole seconds.
    static func generalizedTime(_ date: Date) -> DERItem {
        DERItem(0x18, date.formatted(.iso8601).utf8.filter { !"-:T".utf8.contains($0) })
    }
    static func objectIdentifier(_ contents: [UInt8]) -> DERItem { DERItem(0x06, contents) }
    static func utf8String(_ text: String) -> DERItem { DERItem(0x0C, Array(text.utf8)) }
    static func ia5String(_ text: String) -> DERItem { DERItem(0x16, Array(text.utf8)) }
    static let null = DERItem(0x05, [])

    static func integer(_ value: Int) -> DERItem {
        var octets = withUnsafeBytes(of: value.bigEndian) { Array($0) }
        while octets.count > 1, octets[0] == 0 && octets[1] < 0x80 || octets[0] == 0xFF && octets[1] >= 0x80 {
            octets.removeFirst()
        }
        return DERItem(0x02, octets)
    }

    static func integer(contents: [UInt8]) -> DERItem { DERItem(0x02, contents) }
}
