import Formats
import HTTPServer
import NIOCore
import Relay
import RelayCore

/// A client's validation request, with every field validated. Clients send many more fields: prices, devices, products.
struct ValidateRequest: Sendable {
    /// The client's id of the product; echoed.
    var id: String
    /// The plugin's name of the platform, as in ``StoreTraits/validatorType``, or ``signedTransaction``.
    var type: String
    var proof: PurchaseProof
    /// Nil: the purchase has no customer yet.
    var username: Username?

    /// The plugin's name of Apple's purchases by StoreKit 2. The App Store's other name is for app receipts.
    static let signedTransaction = "apple-sk2"
    private static let platforms = StorePlatform.allCases.filter(\.isValidated)
    private static let types = platforms.map(\.validatorType) + [signedTransaction]

    private static let names = FieldNames(
        ["id"],
        within: [
            "transaction": [
                "type", "id", "appStoreReceipt", "jwsRepresentation", "purchaseToken", "receipt", "receiptId", "userId",
            ],
            "additionalData": ["applicationUsername"],
        ])
    private static let receiptNames = FieldNames(StorePlatform.google.receipt?.fields.map(\.name) ?? [])
    /// Longest receipt of Google's; real ones have a few hundred bytes.
    private static let mostReceiptBytes = 16_384

    /// - Parameter app: bundle id or package name of the app's key; empty if it has none.
    /// - Throws: ``Problem``: 400 if it is not JSON, 422 that names every wrong field.
    init(_ body: ByteBuffer, app: BundleID) throws {
        var reader = try FieldReader(body, Self.names)
        let id = reader.optional("id") ?? ""
        let transactionID = reader.optional("transaction.id") ?? ""
        let sent = reader.required("transaction.type")
        // Compared by bytes, since it may be as long as the body.
        let type = sent.flatMap { sent in Self.types.first { $0.isSame(sent) } }
        if let sent, type == nil {
            let start = String(sent.unicodeScalars.prefix(40))
            reader.add(
                "transaction.type", .invalid,
                "\(start) is not validated here: \(Self.types.joined(separator: ", ")) are")
        }
        func apple(_ name: String) -> PurchaseProof? {
            reader.required(name).map { .apple(.init(receiptData: $0, transactionID: TransactionID(transactionID))) }
        }
        let proof: PurchaseProof? =
            switch Self.platforms.first(where: { $0.validatorType == type }) {
            case nil: type == nil ? nil : apple("transaction.jwsRepresentation")
            case .apple: apple("transaction.appStoreReceipt")
            case .google: Self.google(id: transactionID, product: id, app: app, &reader).map(PurchaseProof.store)
            case .some(let platform):
                StoreReceipt(of: platform, &reader) { ($1["transaction.\($0)"], path: "transaction.\($0)") }
                    .map(PurchaseProof.store)
            }
        let path = "additionalData.applicationUsername"
        let username = reader.optional(reader[path].textOrNumber, path)
        if let username, !username.isEmpty, ApplicationUsername.checked(username) == nil {
            reader.add(path, .tooLong, "must have at most \(ApplicationUsername.mostCharacters) characters")
        }
        guard reader.errors.isEmpty, let type, let proof else { throw Problem.invalidFields(reader.errors) }
        self.id = id
        self.type = type
        self.proof = proof
        self.username = username.flatMap(ApplicationUsername.checked)
    }

    /// Reads Google's receipt, which is JSON within JSON, for the fields of a query to Google. Trusts nothing in it and
    /// skips its signature, since the store is asked.
    ///
    /// - Parameters:
    ///   - id: the order, if the receipt names none.
    ///   - product: the product, if the receipt names none.
    ///   - app: the package, if the receipt names none.
    private static func google(
        id: String, product: String, app: BundleID, _ reader: inout FieldReader
    ) -> StoreReceipt? {
        var receipt = FieldReader()
        if let text = reader.optional("transaction.receipt"), !text.isEmpty {
            guard text.utf8.count <= mostReceiptBytes,
                let read = try? FieldReader(ByteBuffer(string: text), receiptNames)
            else {
                return reader.refuse(
                    "transaction.receipt",
                    "must be the purchase as Google Play gave it: a JSON object of at most \(mostReceiptBytes) bytes")
            }
            receipt = read
        }
        let others = ["orderId": id, "productId": product, "packageName": app.text]
        return StoreReceipt(of: .google, &reader) { name, reader in
            let token = reader["transaction.purchaseToken"]
            if name == "purchaseToken" {
                return (token == .absent ? receipt[name].textOrNumber : token, path: "transaction.purchaseToken")
            }
            var field = receipt[name].textOrNumber
            if field == .absent, let other = others[name], !other.isEmpty { field = .string(other) }
            return (field, path: "transaction.receipt: \(name)")
        }
    }
}
