import Formats
import NIOHTTP1
public import RelayCore

/// A page of what a customer was given money back for (`GET /inApps/v2/refund/lookup/{transactionId}`), the oldest refund first.
public struct RefundHistoryPage: Sendable, Equatable, Decodable {
    /// Nobody has verified them.
    public var signedTransactions: [String]
    /// Token of the next page.
    public var revision: String?
    public var hasMore: Bool?
}

extension AppStoreServerClient {
    /// Asks for the refunds of a transaction's customer.
    ///
    /// - Parameters:
    ///   - transactionID: any of the customer's.
    ///   - revision: as the page before it said.
    public func refunds(
        of transactionID: TransactionID, in environment: Environment, bundleID: BundleID, after revision: String?
    ) async -> AppStoreAnswer<RefundHistoryPage> {
        var path = "/inApps/v2/refund/lookup/\(transactionID.text.percentEncoded)"
        if let revision { path += "?revision=\(revision.percentEncoded)" }
        return await call(.GET, path, in: environment, bundleID: bundleID, body: nil) { (page: RefundHistoryPage) in
            page
        }
    }
}
