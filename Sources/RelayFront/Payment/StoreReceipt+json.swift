import Formats
import RelayCore

extension StoreReceipt {
    /// The fields of Google's and Amazon's receipts.
    static let names = [
        "productId", "purchaseToken", "packageName", "orderId", "purchaseState", "purchaseTime", "developerPayload",
        "receiptId", "userId",
    ]

    /// The fields of Roku's orders.
    static let orderNames = ["amount", "code", "purchaseId", "qty", "total"]

    /// Google's tokens have about two hundred characters. A key in the database must be able to hold one.
    private static let mostNameBytes = 1_024
    private static let mostBytes = 4_096

    /// Reads and validates a purchase at Google Play, the Amazon Appstore or Roku Pay.
    ///
    /// - Parameter find: returns the field with the store's name, and the sender's path of it.
    /// - Returns: nil if a field is wrong; `reader` then has the error.
    init?(
        of platform: StorePlatform, _ reader: inout FieldReader,
        _ find: (String, FieldReader) -> (field: JSONField, path: String)
    ) {
        func optional(_ name: String, most: Int = Self.mostBytes, _ reader: inout FieldReader) -> String? {
            let (field, path) = find(name, reader)
            guard let text = reader.optional(field, path) else { return nil }
            guard text.utf8.count <= most else {
                return reader.refuse(path, .tooLong, "must have at most \(most) bytes")
            }
            let isPlain = !text.isEmpty && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
            guard isPlain || name == "developerPayload" else {
                return reader.refuse(path, "must not be empty, nor hold control characters")
            }
            return text
        }
        func required(_ name: String, _ reader: inout FieldReader) -> String? {
            let (field, path) = find(name, reader)
            guard field != .absent else { return reader.refuse(path, .required, "is required") }
            return optional(name, most: Self.mostNameBytes, &reader)
        }
        switch platform {
        // Apple's receipts are read elsewhere.
        case .apple: return nil
        case .google:
            let productID = required("productId", &reader)
            let token = required("purchaseToken", &reader)
            let packageName = required("packageName", &reader)
            let orderID = optional("orderId", most: 255, &reader)
            let state = optional("purchaseState", most: 64, &reader)
            let time = optional("purchaseTime", most: 64, &reader)
            let payload = optional("developerPayload", &reader)
            guard let productID, let token, let packageName else { return nil }
            self = .google(
                .init(
                    productId: ProductID(productID), purchaseToken: token, packageName: BundleID(packageName),
                    orderId: orderID, purchaseState: state, purchaseTime: time, developerPayload: payload))
        case .amazon:
            let (receiptID, userID) = (required("receiptId", &reader), required("userId", &reader))
            guard let receiptID, let userID else { return nil }
            self = .amazon(.init(receiptId: receiptID, userId: userID))
        case .roku:
            let (id, code) = (required("purchaseId", &reader), required("code", &reader))
            func scalar(_ name: String, _ reader: inout FieldReader) -> SentScalar? {
                let (field, path) = find(name, reader)
                if case .number(let digits) = field {
                    guard digits.utf8.count <= 64 else {
                        return reader.refuse(path, .tooLong, "must have at most 64 digits")
                    }
                    return .number(digits)
                }
                return optional(name, most: 255, &reader).map { .text($0) }
            }
            let (amount, qty) = (scalar("amount", &reader), scalar("qty", &reader))
            let total = scalar("total", &reader)
            guard let id, let code else { return nil }
            self = .roku(
                .init(purchaseId: id, code: ProductID(code), amount: amount, qty: qty, total: total))
        }
    }
}

extension StoreReceipt {
    /// The stored form.
    var json: [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        switch self {
        case .google(let receipt):
            writer.member("productId", receipt.productId)
            writer.member("purchaseToken", receipt.purchaseToken)
            writer.member("packageName", receipt.packageName)
            writer.member("orderId", receipt.orderId)
            writer.member("purchaseState", receipt.purchaseState)
            writer.member("purchaseTime", receipt.purchaseTime)
            writer.member("developerPayload", receipt.developerPayload)
        case .amazon(let receipt):
            writer.member("receiptId", receipt.receiptId)
            writer.member("userId", receipt.userId)
        case .roku(let order):
            writer.member("purchaseId", order.purchaseId)
            writer.member("code", order.code)
            writer.member("amount", order.amount)
            writer.member("qty", order.qty)
            writer.member("total", order.total)
        }
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    /// Writes a scalar in the form that `StoreReceipt.SentScalar` reads. Nil is omitted.
    fileprivate mutating func member(_ name: StaticString, _ scalar: StoreReceipt.SentScalar?) {
        guard let scalar else { return }
        beginObject(name)
        switch scalar {
        case .number(let digits): member("number", digits)
        case .text(let text): member("text", text)
        }
        endObject()
    }
}
