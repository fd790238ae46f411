import Formats
import NIOCore
public import RelayCore

/// A request to Cleeng's connectors, to register or transfer a purchase (Cleeng's references "Register Apple StoreKit 2
/// purchase" and "Register Google Play purchase").
public struct ConnectorPurchase: Sendable, Equatable {
    /// The store's own identification of the purchase.
    public enum Proof: Sendable, Equatable {
        case storekit2(TransactionID)
        /// The token, its app and its product.
        case google(ExternalStoreQuery)
    }

    public var proof: Proof
    /// The customer's number at Cleeng; in a transfer, the new owner's.
    public var cleengCustomerId: Int64
    /// The customer's IP address, not the relay's. Cleeng accepts only IPv4; any other address is left out.
    public var ipAddress: String?

    public init(_ proof: Proof, cleengCustomerId: Int64, ipAddress: String? = nil) {
        self.proof = proof
        self.cleengCustomerId = cleengCustomerId
        self.ipAddress = ipAddress
    }

    public var connector: Connector {
        switch proof {
        case .storekit2: .storekit2
        case .google: .google
        }
    }

    /// The request's body: Cleeng's fields, and `productId` for Google, which Cleeng's page does not list. Whether Cleeng
    /// reads it is a question for Cleeng (docs/simulator.md).
    func body() -> ByteBuffer {
        JSONWriter.body { writer in
            switch proof {
            case .storekit2(let transaction): writer.member("transactionId", transaction.text)
            case .google(let purchase):
                writer.member("purchaseToken", purchase.id)
                writer.member("packageName", purchase.detail?.text)
                writer.member("productId", purchase.product?.text)
                // The connector accepts no other type.
                writer.member("productType", "subscription")
            }
            writer.member("cleengCustomerId", Int(cleengCustomerId))
            writer.member("ipAddress", ipAddress?.contains(":") == true ? nil : ipAddress)
        }
    }
}

/// Base address and paths of a connector.
struct ConnectorRoutes: Sendable {
    let base: String
    let purchases: String

    var transfers: String { purchases + "/transfers" }
    var synchronizations: String { purchases + "/synchronizations" }

    /// Nil if the connector's address is not set.
    init?(_ connector: Connector, _ configuration: CleengConfiguration) {
        switch connector {
        case .storekit2: (base, purchases) = (configuration.storeKit2URL, "/storekit2/purchases")
        case .google:
            guard let url = configuration.googleURL else { return nil }
            (base, purchases) = (url, "/purchases")
        }
    }
}
