import Formats
import NIOCore
public import RelayCore

/// One purchase as `POST /storekit2/purchases` and its transfers take it (Cleeng's reference "Register Apple StoreKit 2
/// purchase").
public struct StoreKit2Purchase: Sendable, Equatable {
    /// The App Store's.
    public var transactionId: TransactionID
    /// The customer's number at Cleeng; of a transfer the new owner's.
    public var cleengCustomerId: Int64
    /// The customer's address, not ours. Cleeng takes IPv4 alone: any other is left out.
    public var ipAddress: String?

    public init(transactionId: TransactionID, cleengCustomerId: Int64, ipAddress: String? = nil) {
        self.transactionId = transactionId
        self.cleengCustomerId = cleengCustomerId
        self.ipAddress = ipAddress
    }

    /// The request's body: Cleeng's fields and no others.
    func body() -> ByteBuffer {
        JSONWriter.body { writer in
            writer.member("transactionId", transactionId.text)
            writer.member("cleengCustomerId", Int(cleengCustomerId))
            writer.member("ipAddress", ipAddress?.contains(":") == true ? nil : ipAddress)
        }
    }
}
