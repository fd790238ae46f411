import Formats
import NIOHTTP1
public import RelayCore

/// A page of a customer's refunds (`GET /inApps/v2/refund/lookup/{transactionId}`), oldest first.
public struct RefundHistoryPage: Sendable, Equatable, Decodable {
    /// Not verified.
    public var signedTransactions: [String]
    /// Token of the next page.
    public var revision: String?
    public var hasMore: Bool?
}

extension AppStoreServerClient {
    /// Asks for the refunds of a transaction's customer.
    ///
    /// - Parameters:
    ///   - transactionID: any transaction of the customer.
    ///   - revision: the token from the previous page.
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
