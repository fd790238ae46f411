import Crypto
import NIOCore
import RelayCore
import RelayStore

extension Acceptance {
    /// - Parameters:
    ///   - receipt: what was made of the request's.
    ///   - driver: by which road it goes to Cleeng. By StoreKit 2 it is known by its transaction alone: what the App Store
    ///     has signed counts, and what the app says beside it only where that names none.
    ///   - now: the database's time, for the day in the id.
    ///   - peer: whose address counts where the request names none.
    ///   - idempotencyKey: unquoted.
    init(
        _ request: PaymentRequest, receipt: ReadReceipt, verification: Verification, driver: PurchaseDriver,
        key: APIKey,
        now: Timestamp, peer: IPAddress?, idempotencyKey: String?, body: ByteBuffer,
        using generator: inout some RandomNumberGenerator
    ) {
        var digest = PurchaseDigest()
        digest.add(key.publisher)
        digest.add(key.app)
        digest.add(request.email.customer)
        digest.add(request.offerID)
        digest.add(receipt.identity)
        self.init(
            id: ValidationID(
                bucket: Bucket(of: key.publisher, receipt.subscriptionKey),
                day: UInt16(clamping: now.daysSince1970), using: &generator),
            publisher: key.publisher, app: key.app, email: request.email,
            applicationUsername: request.applicationUsername, offerID: request.offerID,
            transactionID: driver == .storekit2
                ? receipt.transactionID ?? request.transactionID : request.transactionID,
            appType: request.appType,
            ipAddress: (request.ipAddress.flatMap { IPAddress($0) } ?? peer)?.uncompressed,
            couponCode: driver == .storekit2 ? nil : request.couponCode,
            subscriptionKey: receipt.subscriptionKey, environment: receipt.environment, productID: receipt.productID,
            bundleID: receipt.bundleID, isReceiptReadable: receipt.isReadable, verification: verification,
            period: verification.result == .notGenuine ? nil : receipt.period,
            cleengCustomer: request.cleengCustomer, driver: driver,
            receipt: receipt.stored, purchaseKey: digest.finalize(),
            idempotencyKey: idempotencyKey.map { IdempotencyKey($0, apiKey: key.id, body: body) })
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
