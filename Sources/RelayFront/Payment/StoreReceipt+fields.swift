import RelayCore

extension StoreReceipt {
    /// Google's tokens have some two hundred characters. A key of the database's has to hold it.
    private static let mostNameBytes = 1_024
    private static let mostBytes = 4_096

    /// What an app sends of a purchase at Google Play or the Amazon Appstore, every field judged.
    ///
    /// - Parameters:
    ///   - fields: by their names at the store.
    ///   - path: as what the sender knows a field.
    /// - Returns: nil where a field is wrong, which `reader` then has.
    init?(
        _ fields: [String: JSONField], of platform: StorePlatform, _ reader: inout FieldReader,
        path: (String) -> String
    ) {
        func optional(_ name: String, most: Int = Self.mostBytes, _ reader: inout FieldReader) -> String? {
            Self.text(reader.optional(fields[name] ?? .absent, path(name)), name, path(name), most: most, &reader)
        }
        func required(_ name: String, _ reader: inout FieldReader) -> String? {
            Self.text(
                reader.required(fields[name] ?? .absent, path(name)), name, path(name), most: Self.mostNameBytes,
                &reader)
        }
        switch platform {
        // Its receipts have requests of their own.
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
        }
    }

    private static func text(
        _ text: String?, _ name: String, _ path: String, most: Int, _ reader: inout FieldReader
    ) -> String? {
        guard let text else { return nil }
        guard text.utf8.count <= most else {
            reader.add(FieldError(path, .tooLong, "must have at most \(most) bytes"))
            return nil
        }
        let isPlain = !text.isEmpty && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard isPlain || name == "developerPayload" else {
            reader.add(FieldError(path, .invalid, "must not be empty, nor hold control characters"))
            return nil
        }
        return text
    }
}
