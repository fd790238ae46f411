/// Any of the three things that an app may send as its receipt, read but not verified.
public enum PurchaseDocument: Sendable, Hashable {
    case appReceipt(SignedReceipt)
    case transactionReceipt(TransactionReceipt)
    case signedTransaction(SignedTransaction)

    /// Tells by the bytes which it is, and reads it. An app receipt without any purchase is a good document.
    public init(_ data: ReceiptData) throws(ReceiptReadError) {
        switch data {
        case .compactJWS(let text):
            self = .signedTransaction(try Self.transaction(CompactJWS(text)))
        case .binary(let bytes):
            // A property list opens with a brace, where a PKCS#7 has the tag of a SEQUENCE.
            if bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") {
                self = .transactionReceipt(try TransactionReceipt(propertyList: bytes))
            } else {
                self = .appReceipt(try SignedReceipt(berEncoded: bytes))
            }
        }
    }

    /// Apple signs other things in the same form; only a transaction has a transaction id.
    private static func transaction(_ jws: CompactJWS) throws(ReceiptReadError) -> SignedTransaction {
        let transaction = try SignedTransaction(jws)
        guard transaction.payload.transactionId == nil else { return transaction }
        let other = try? StoreJSON.decode(OtherPayload.self, from: jws.payload)
        throw other?.receiptType == nil ? .notATransaction : .appTransaction
    }

    private struct OtherPayload: Decodable {
        /// The environment, as an app transaction (and nothing else) calls it.
        let receiptType: String?
    }
}

extension PurchaseDocument {
    /// Whether it is genuine and ours.
    ///
    /// - Returns: false where it cannot be judged: the transaction receipts of iOS 6 are signed in a way of their own.
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

/// A StoreKit 2 transaction signed by Apple (`JWSTransaction`): what it says, and the JWS that verifying it takes.
///
/// Nothing here has been verified.
public struct SignedTransaction: Sendable, Hashable {
    public let jws: CompactJWS
    public let payload: TransactionPayload

    /// - Throws: ``ReceiptReadError/malformedJWS`` where the payload is no JSON object.
    public init(_ jws: CompactJWS) throws(ReceiptReadError) {
        guard let payload = try? StoreJSON.decode(TransactionPayload.self, from: jws.payload) else {
            throw .malformedJWS
        }
        self.jws = jws
        self.payload = payload
    }
}
