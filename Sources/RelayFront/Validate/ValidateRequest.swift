import RelayCore

/// What a client asks to have validated, every field judged.
struct ValidateRequest: Sendable {
    enum Kind: String, Sendable {
        /// StoreKit 1: the app receipt.
        case receipt = "ios-appstore"
        /// StoreKit 2: a signed transaction.
        case signedTransaction = "apple-sk2"
    }

    var id: String
    var kind: Kind
    /// The app's own; empty where it names none.
    var transactionID: String
    var receiptData: String
    /// Nil: the purchase is nobody's yet.
    var username: String?

    /// - Throws: ``Problem`` 422 that names every wrong field.
    init(_ body: ValidateBody) throws {
        var reader = FieldReader()
        let id = reader.optional(body.id, "id")
        let transactionID = reader.optional(body.transactionID, "transaction.id") ?? ""
        let type = reader.required(body.transactionType, "transaction.type")
        let kind = type.flatMap(Kind.init)
        if let type, kind == nil {
            reader.add(
                FieldError(
                    "transaction.type", .invalid,
                    "\(String(type.prefix(40))) is not validated here: ios-appstore and apple-sk2 are"))
        }
        var receipt: String?
        switch kind {
        case .receipt: receipt = reader.required(body.appStoreReceipt, "transaction.appStoreReceipt")
        case .signedTransaction: receipt = reader.required(body.signedTransaction, "transaction.jwsRepresentation")
        case nil: break
        }
        let username = reader.optional(body.applicationUsername, "additionalData.applicationUsername")
        if let username, !username.isEmpty, ApplicationUsername.checked(username) == nil {
            reader.add(
                FieldError(
                    "additionalData.applicationUsername", .tooLong,
                    "must have at most \(ApplicationUsername.mostCharacters) characters"))
        }
        guard reader.errors.isEmpty, let kind, let receipt else { throw Problem.invalidFields(reader.errors) }
        self.id = id ?? ""
        self.kind = kind
        self.transactionID = transactionID
        receiptData = receipt
        self.username = username.flatMap(ApplicationUsername.checked)
    }
}
