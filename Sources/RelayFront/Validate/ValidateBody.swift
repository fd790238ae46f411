import NIOCore

/// The body of `POST /v1/validate`, as far as it counts (Fovea, "Validate"). Clients send much more: prices, devices, products.
struct ValidateBody: Sendable {
    /// What the client asked about; echoed.
    var id = JSONField.absent
    var transaction = Transaction()
    /// A text, or a number as it was written.
    var applicationUsername = JSONField.absent

    /// - Throws: ``Problem`` 400 where it is not JSON, 422 where it is no object.
    init(_ bytes: ByteBuffer) throws {
        var body = (id: JSONField.absent, transaction: Transaction(), username: JSONField.absent)
        try JSONScanner.readObject(bytes) { (scanner, name) throws(JSONSyntaxError) in
            switch name {
            case "id": body.id = try JSONField(&scanner, depth: 2)
            case "transaction": body.transaction = try Transaction(&scanner)
            case "additionalData": body.username = try Self.username(&scanner)
            default: try scanner.skip(depth: 2)
            }
        }
        id = body.id
        transaction = body.transaction
        applicationUsername = body.username
    }

    struct Transaction: Sendable {
        var type = JSONField.absent
        var id = JSONField.absent
        var appStoreReceipt = JSONField.absent
        var signedTransaction = JSONField.absent
        var purchaseToken = JSONField.absent
        /// What Google gave the app, as JSON within JSON. Its signature is not looked at: the store is asked.
        var receipt = JSONField.absent
        var receiptID = JSONField.absent
        var userID = JSONField.absent

        fileprivate init() {}

        fileprivate init(_ scanner: inout JSONScanner) throws(JSONSyntaxError) {
            guard try scanner.kind() == .object else {
                try scanner.skip(depth: 2)
                return
            }
            var fields = Transaction()
            try scanner.object(depth: 2) { (scanner, name) throws(JSONSyntaxError) in
                switch name {
                case "type": fields.type = try JSONField(&scanner, depth: 3)
                case "id": fields.id = try JSONField(&scanner, depth: 3)
                case "appStoreReceipt": fields.appStoreReceipt = try JSONField(&scanner, depth: 3)
                case "jwsRepresentation": fields.signedTransaction = try JSONField(&scanner, depth: 3)
                case "purchaseToken": fields.purchaseToken = try JSONField(&scanner, depth: 3)
                case "receipt": fields.receipt = try JSONField(&scanner, depth: 3)
                case "receiptId": fields.receiptID = try JSONField(&scanner, depth: 3)
                case "userId": fields.userID = try JSONField(&scanner, depth: 3)
                default: try scanner.skip(depth: 3)
                }
            }
            self = fields
        }
    }

    private static func username(_ scanner: inout JSONScanner) throws(JSONSyntaxError) -> JSONField {
        guard try scanner.kind() == .object else {
            try scanner.skip(depth: 2)
            return .absent
        }
        var username = JSONField.absent
        try scanner.object(depth: 2) { (scanner, name) throws(JSONSyntaxError) in
            guard name == "applicationUsername" else { return try scanner.skip(depth: 3) }
            username = try JSONField(textOrNumber: &scanner, depth: 3)
        }
        return username
    }
}
