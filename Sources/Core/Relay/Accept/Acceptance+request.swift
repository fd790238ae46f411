import Crypto
import Formats
import HTTPServer
import NIOCore
import RawStructuredFieldValues
import RelayCore

extension Acceptance {
    /// - Parameters:
    ///   - receipt: what the relay read from the request's proof.
    ///   - driver: how the purchase is sent to Cleeng. Connectors take no coupon. The StoreKit 2 connector gets only
    ///     the transaction id: the signed one, or else the app's.
    ///   - now: the database's time, for the day in the id.
    init(
        _ request: PurchaseRequest, _ receipt: ReadReceipt, driver: PurchaseDriver,
        from sender: PurchaseAcceptor.Sender,
        now: Timestamp
    ) {
        let (key, sent) = (sender.key, receipt.sentTransactionID)
        // Another store returned the periods itself, so they count whatever the verification says.
        let isKept = receipt.platform != .apple || receipt.verification.result != .notGenuine
        self.init(
            id: ValidationID(in: Bucket(of: key.publisher, receipt.subscriptionKey), now: now),
            publisher: key.publisher, app: key.app, email: request.email,
            applicationUsername: request.applicationUsername, offerID: request.offerID,
            transactionID: driver == .storekit2 ? receipt.transactionID ?? sent : sent,
            appType: request.proof.appType,
            ipAddress: (request.ipAddress.flatMap { IPAddress($0) } ?? sender.peer)?.uncompressed,
            couponCode: driver.connector == nil ? request.couponCode : nil,
            subscriptionKey: receipt.subscriptionKey, environment: receipt.environment, productID: receipt.productID,
            bundleID: receipt.bundleID, isReceiptReadable: receipt.isReadable, verification: receipt.verification,
            periods: isKept ? receipt.periods : [],
            cleengCustomer: request.cleengCustomer, driver: driver, receipt: receipt.stored,
            purchaseKey: receipt.purchaseKey(key, request.email.customer, request.offerID),
            idempotencyKey: sender.idempotencyKey)
    }
}

extension ValidationID {
    /// A new id.
    init(in bucket: Bucket, now: Timestamp) {
        var generator = SystemRandomNumberGenerator()
        self.init(bucket: bucket, day: UInt16(clamping: now.daysSince1970), using: &generator)
    }
}

extension Acceptance.IdempotencyKey {
    init(_ key: String, apiKey: APIKeyID, body: ByteBuffer) {
        let digest = Array(key.utf8).withUnsafeBytes { PurchaseDigest.of($0) }
        let text = Hex.text(of: digest)
        self.init(
            bucket: Bucket(of: apiKey.text, text), apiKey: apiKey, digest: digest,
            fingerprint: body.withUnsafeReadableBytes { PurchaseDigest.of($0) })
    }
}

/// `Idempotency-Key`: quoted by its draft (a string of RFC 9651), bare by the custom of most clients.
enum IdempotencyKeyHeader {
    /// The key without quotes: 1 to 255 visible ASCII characters. Nil if none was sent.
    ///
    /// - Throws: ``Problem`` 400.
    static func parse(_ header: String?) throws -> String? {
        guard let header else { return nil }
        let key = header.hasBytes(first: "\"") ? unquoted(header) : header
        guard let key, (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw Problem(.invalidIdempotencyKey, "send one key of 1 to 255 visible ASCII characters, quoted or bare")
        }
        return key
    }

    private static func unquoted(_ header: String) -> String? {
        guard header.utf8.count <= 1_024 else { return nil }
        var parser = StructuredFieldValueParser(Array(header.utf8))
        guard let item = try? parser.parseItemFieldValue(), case .string(let text) = item.rfc9651BareItem else {
            return nil
        }
        return text
    }
}

/// SHA-256 digests that identify purchases.
enum PurchaseDigest {
    /// Hashes each part after its length, so that no two lists of parts collide.
    static func of(_ texts: [String], identity: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        func add(_ part: UnsafeRawBufferPointer) {
            withUnsafeBytes(of: UInt64(part.count).bigEndian) { hash.update(bufferPointer: $0) }
            hash.update(bufferPointer: part)
        }
        for var text in texts { text.withUTF8 { add(UnsafeRawBufferPointer($0)) } }
        identity.withUnsafeBytes(add)
        return Array(hash.finalize())
    }

    static func of(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var hash = SHA256()
        hash.update(bufferPointer: bytes)
        return Array(hash.finalize())
    }
}

extension IPAddress {
    /// An IPv6 address with all its eight groups (`2001:db8:0:0:0:0:0:1`). Cleeng's published schema does not allow
    /// `::`, and Cleeng would reject the purchase.
    package var uncompressed: String {
        guard bytes.count == 16 else { return description }
        return stride(from: 0, to: 16, by: 2)
            .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }
            .joined(separator: ":")
    }
}
