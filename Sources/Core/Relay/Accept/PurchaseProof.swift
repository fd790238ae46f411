import Formats
import HTTPServer
package import RelayCore

/// An app's proof of a purchase.
package enum PurchaseProof: Sendable {
    case apple(Apple)
    /// Data by which another store is asked.
    case store(StoreReceipt)

    /// Data that the App Store gave to the app; it is its own proof.
    package struct Apple: Sendable {
        package var receiptData: String
        /// Transaction id that the app sent with it; empty if it sent none.
        package var transactionID: TransactionID
        var appType = "ios"

        package init(receiptData: String, transactionID: TransactionID, appType: String = "ios") {
            self.receiptData = receiptData
            self.transactionID = transactionID
            self.appType = appType
        }
    }

    var appType: String {
        switch self {
        case .apple(let sent): sent.appType
        case .store(let sent): sent.platform.appType
        }
    }

    /// The driver to Cleeng without a connector.
    var driver: PurchaseDriver {
        switch self {
        case .apple: .receipt
        case .store(let sent): sent.platform.driver
        }
    }
}

extension PurchaseProof {
    /// Reads the proof from the body of a purchase.
    ///
    /// - Returns: nil if a field is wrong; `reader` then has the error.
    init?(of platform: StorePlatform, _ reader: inout FieldReader) {
        guard platform != .apple else {
            guard let sent = Apple(&reader) else { return nil }
            self = .apple(sent)
            return
        }
        let object = platform.receiptField
        guard [.null, .object].contains(reader[object].kind) else {
            reader.add(object, .wrongType, "must be an object")
            return nil
        }
        let keepsNumbers = platform.receipt?.keepsNumbers == true
        let receipt = StoreReceipt(of: platform, &reader) { name, reader in
            let field = reader["\(object).\(name)"]
            return (keepsNumbers ? field : field.textOrNumber, path: "\(object).\(name)")
        }
        guard let receipt else { return nil }
        self = .store(receipt)
    }
}

extension PurchaseProof.Apple {
    static let names = ["transactionId", "receiptData"]

    fileprivate init?(_ reader: inout FieldReader) {
        var transactionID: TransactionID?
        var receiptData: String?
        if [.null, .object].contains(reader["receipt"].kind) {
            transactionID = Self.transactionID(&reader)
            receiptData = Self.receiptData(&reader)
        } else {
            receiptData = reader.refuse("receipt", wants: "an object", not: reader["receipt"].kind)
        }
        let appType = reader.optional("appType")?.asciiLowercased() ?? "ios"
        // Compared by bytes, since it may be as long as the body.
        if !appType.isSame("ios"), !appType.isSame("tvos") {
            reader.add("appType", .invalid, "must be ios or tvos")
        }
        guard let transactionID, let receiptData else { return nil }
        self.init(receiptData: receiptData, transactionID: transactionID, appType: appType)
    }

    private static func transactionID(_ reader: inout FieldReader) -> TransactionID? {
        let name = "receipt.transactionId"
        guard let text = reader.required(name) else { return nil }
        guard text.utf8.count <= 32 else { return reader.refuse(name, .tooLong, "must have at most 32 digits") }
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return reader.refuse(name, "must be of digits") }
        return TransactionID(text)
    }

    private static func receiptData(_ reader: inout FieldReader) -> String? {
        let name = "receipt.receiptData"
        guard var text = reader.required(name) else { return nil }
        if !text.isEmpty, text.withUTF8(ByteScan.isVisible) { return text }
        var hasContent = false
        for byte in text.utf8 {
            switch byte {
            case 0x20, 0x09, 0x0a, 0x0d: continue
            case ..<0x20, 0x7f: return reader.refuse(name, "must not hold control characters")
            default: hasContent = true
            }
        }
        return hasContent ? text : reader.refuse(name, "must not be empty")
    }
}
