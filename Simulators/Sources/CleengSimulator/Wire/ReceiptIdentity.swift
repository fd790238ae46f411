import Foundation
import SwiftASN1

/// Reads which subscription a receipt belongs to.
struct ReceiptIdentity: Sendable {
    /// - Parameters: the receipt's text (base64 app receipt, or a signed transaction), and the transaction id that was
    ///   sent with it, which selects one of several subscriptions.
    /// - Returns: the original transaction id, or nil if the receipt cannot be read.
    let read: @Sendable (_ receiptData: String, _ transactionId: String) -> String?

    /// Reads app receipts and signed transactions. Verifies nothing: test receipts are not Apple's.
    static let appleStore = ReceiptIdentity { receiptData, transactionId in
        ReceiptEntry.read(receiptData).choice(transactionId)?.originalTransactionId
    }
}

/// One purchase of a receipt, with the fields that decide which subscription the receipt belongs to.
///
/// The simulator has its own reader of receipts. It tests the relay's reader, so they share no code.
struct ReceiptEntry: Sendable, Equatable {
    var transactionId: String?
    var originalTransactionId: String?
    var purchasedAt: SimulatedTime?
    var expiresAt: SimulatedTime?
    var isCancelled = false

    /// - Parameter receiptData: a compact JWS, or an app receipt in base64 (standard or URL-safe, with or without padding
    ///   and line breaks).
    /// - Returns: no entries if the receipt cannot be read.
    static func read(_ receiptData: String) -> [ReceiptEntry] {
        if let transaction = AnyJSON.payload(ofJWS: receiptData) { return [ReceiptEntry(transaction)] }
        guard let bytes = AppReceipt.base64(receiptData), let payload = try? AppReceipt.payload(of: bytes) else {
            return []
        }
        return AppReceipt.attributes(of: payload).filter { $0.type == AppReceipt.purchase }.map { attribute in
            ReceiptEntry(AppReceipt.attributes(of: attribute.value))
        }
    }

    /// A StoreKit 2 transaction (App Store Server API, `JWSTransactionDecodedPayload`).
    private init(_ transaction: AnyJSON) {
        transactionId = Self.id(transaction["transactionId"]?.string)
        originalTransactionId = Self.id(transaction["originalTransactionId"]?.string)
        purchasedAt = transaction["purchaseDate"]?.milliseconds
        expiresAt = transaction["expiresDate"]?.milliseconds
        isCancelled = transaction["revocationDate"]?.milliseconds != nil
    }

    /// An in-app purchase of an app receipt. Source of the numbers: Apple, Receipt Validation Programming Guide, "In-App
    /// Purchase Receipt Fields".
    private init(_ attributes: [AppReceipt.Attribute]) {
        for attribute in attributes {
            switch attribute.type {
            case 1703: transactionId = Self.id(attribute.text)
            case 1704: purchasedAt = attribute.text.flatMap { SimulatedTime(text: $0) }
            case 1705: originalTransactionId = Self.id(attribute.text)
            case 1708: expiresAt = attribute.text.flatMap { SimulatedTime(text: $0) }
            case 1712: isCancelled = attribute.text?.isEmpty == false
            default: break
            }
        }
    }

    /// Xcode's receipts write 0 for a missing id.
    private static func id(_ text: String?) -> String? { text == "0" || text == "" ? nil : text }

    /// Ranks the running subscription that ends last first, then the newest purchase.
    fileprivate var rank: (Int, Int64, Int64) {
        let purchased = purchasedAt?.microseconds ?? 0
        guard let expiresAt, !isCancelled else { return (0, purchased, 0) }
        return (1, expiresAt.microseconds, purchased)
    }
}

extension [ReceiptEntry] {
    /// The purchase with `transactionId`, else the one with the highest rank.
    func choice(_ transactionId: String) -> ReceiptEntry? {
        first { $0.transactionId == transactionId } ?? first { $0.originalTransactionId == transactionId }
            ?? self.max { $0.rank < $1.rank }
    }
}

/// The container of an app receipt: PKCS#7 signed data (RFC 5652) around a set of attributes.
private enum AppReceipt {
    struct Attribute {
        let type: Int
        let value: ArraySlice<UInt8>

        /// A string of any of ASN.1's string types.
        var text: String? {
            guard let node = try? BER.parse(value), case .primitive(let bytes) = node.content else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    struct NotSignedData: Error {}

    /// Decodes base64 of either alphabet, with or without padding and line breaks.
    static func base64(_ text: String) -> [UInt8]? {
        var digits = text.utf8.filter { !" \r\n\t=".utf8.contains($0) }.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        digits += [UInt8](repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
        return Data(base64Encoded: Data(digits)).map { Array($0) }
    }

    /// The attribute that holds one in-app purchase.
    static let purchase = 17

    /// ContentInfo { contentType, [0] SignedData { version, digestAlgorithms, { contentType, [0] OCTET STRING }, … } }
    static func payload(of bytes: [UInt8]) throws -> ArraySlice<UInt8> {
        var node = try BER.parse(bytes)
        for index in [1, 0, 2, 1, 0] {
            let children = children(of: node)
            guard children.indices.contains(index) else { throw NotSignedData() }
            node = children[index]
        }
        return try ASN1OctetString(berEncoded: node).bytes
    }

    /// SET OF SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }. Attributes of another form are skipped.
    static func attributes(of bytes: ArraySlice<UInt8>) -> [Attribute] {
        guard let set = try? BER.parse(bytes) else { return [] }
        return children(of: set).compactMap { node in
            let fields = children(of: node)
            guard fields.count == 3, let type = try? Int(berEncoded: fields[0]),
                let value = try? ASN1OctetString(berEncoded: fields[2]).bytes
            else { return nil }
            return Attribute(type: type, value: value)
        }
    }

    private static func children(of node: ASN1Node) -> [ASN1Node] {
        if case .constructed(let nodes) = node.content { Array(nodes) } else { [] }
    }
}
