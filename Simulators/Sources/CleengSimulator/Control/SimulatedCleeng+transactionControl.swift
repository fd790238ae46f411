extension SimulatedCleeng {
    /// `/_simulator/transactions/{transactionId}`: what Apple would say of a StoreKit 2 transaction.
    mutating func changeTransaction(_ id: String, _ call: ControlCall) throws(ControlFault) -> Reply {
        guard TransactionIdText.isAcceptable(id) else { throw .invalid("a transaction id is a text of digits") }
        if call.method == "PUT" {
            try call.allowOnly("originalTransactionId", "offerId", "expiresAt")
            let transaction = try Self.transaction(id, call)
            if transactions[id] == nil { _ = transactions.insert(transaction, for: id) }
            transactions[id] = transaction
        }
        let transaction = transaction(id)
        return Reply(
            json: JSONValue.object([
                "transactionId": .string(id), "originalTransactionId": .string(transaction.originalTransactionId),
                "offerId": .string(transaction.offerId.text),
                "expiresAt": .optional(transaction.expiresAt?.unixSeconds),
            ]))
    }

    private static func transaction(_ id: String, _ call: ControlCall) throws(ControlFault) -> StoreTransaction {
        guard let offer = call.body?["offerId"]?.string.flatMap({ OfferId($0) }) else {
            throw .invalid("offerId is required, such as S123456789_US")
        }
        let original = call.body?["originalTransactionId"] ?? .string(id)
        guard let original = original.string, TransactionIdText.isAcceptable(original) else {
            throw .invalid("originalTransactionId is a text of digits")
        }
        return StoreTransaction(
            originalTransactionId: original, offerId: offer, expiresAt: try call.expiresAt())
    }
}
