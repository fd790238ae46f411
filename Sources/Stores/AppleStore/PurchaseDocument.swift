/// A receipt in any of the three formats that apps send, read but not verified.
public enum PurchaseDocument: Sendable, Hashable {
    case appReceipt(SignedReceipt)
    case transactionReceipt(TransactionReceipt)
    case signedTransaction(SignedTransaction)

    /// Detects the format by the bytes, and reads it. An app receipt without purchases is valid.
    public init(_ data: ReceiptData) throws(ReceiptReadError) {
        switch data {
        case .compactJWS(let text):
            self = .signedTransaction(try Self.transaction(CompactJWS(text)))
        case .binary(let bytes):
            // A property list begins with a brace, PKCS#7 with the tag of a SEQUENCE.
            if bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") {
                self = .transactionReceipt(try TransactionReceipt(propertyList: bytes))
            } else {
                self = .appReceipt(try SignedReceipt(berEncoded: bytes))
            }
        }
    }

    /// Apple signs other objects in the same form, but only a transaction has a transaction id.
    private static func transaction(_ jws: CompactJWS) throws(ReceiptReadError) -> SignedTransaction {
        let transaction = try SignedTransaction(jws)
        guard transaction.payload.transactionId == nil else { return transaction }
        let other = try? StoreJSON.decode(OtherPayload.self, from: jws.payload)
        throw other?.receiptType == nil ? .notATransaction : .appTransaction
    }

    private struct OtherPayload: Decodable {
        /// Environment under the name that only app transactions use.
        let receiptType: String?
    }
}

extension PurchaseDocument {
    /// Verifies that it is genuine and ours.
    ///
    /// - Returns: false if it cannot be verified: transaction receipts of iOS 6 use another signature scheme.
    public func verify(_ trust: ChainOfTrust, _ scope: StoreScope) async throws(NotGenuine) -> Bool {
        switch self {
        case .transactionReceipt: return false
        case .appReceipt(let signed):
            try scope.check(
                try await signed.verify(trust), environment: signed.receipt.environment,
                bundleId: signed.receipt.bundleId, appId: signed.receipt.appId)
        case .signedTransaction(let signed): try await signed.verify(trust, scope)
        }
        return true
    }
}

extension SignedTransaction {
    func verify(_ trust: ChainOfTrust, _ scope: StoreScope) async throws(NotGenuine) {
        try scope.check(
            try await jws.verify(trust, signedDate: payload.signedDate), environment: payload.environment,
            bundleId: payload.bundleId, appId: nil)
    }
}

/// A StoreKit 2 transaction signed by Apple (`JWSTransaction`): its content, and the JWS needed to verify it.
///
/// Nothing is verified.
public struct SignedTransaction: Sendable, Hashable {
    public let jws: CompactJWS
    public let payload: TransactionPayload

    /// - Throws: ``ReceiptReadError/malformedJWS`` if the payload is not a JSON object.
    public init(_ jws: CompactJWS) throws(ReceiptReadError) {
        guard let payload = try? StoreJSON.decode(TransactionPayload.self, from: jws.payload) else {
            throw .malformedJWS
        }
        self.jws = jws
        self.payload = payload
    }
}
