import Foundation
import SimulatorKit

/// `GET /inApps/v2/refund/lookup/{transactionId}` (App Store Server API, "Get Refund History"): the `REFUND`
/// notifications of a subscription, oldest first. Customers are not simulated: each subscription has its own.
extension SimulatedServerAPI {
    private static let mostOfAPage = 20

    func refunds(of transactionId: String, _ call: Call) throws -> Reply {
        guard SubscriptionUpdate.isNumber(transactionId) else { throw APIFault.transactionId }
        let subscription = known.find(transactionId)
        let original =
            subscription?.number
            ?? history.items.last { $0.transactionIds.contains(transactionId) }?.originalTransactionId
        guard let original else { throw APIFault.notFound }
        let all = history.items.filter { notification in
            notification.type == "REFUND" && notification.originalTransactionId == original
                && notification.environment == settings.environment && notification.bundleId == settings.bundleId
        }
        let start: Int
        if let text = call.queryItems["revision"] {
            guard let number = Int(text), (0...all.count).contains(number) else { throw APIFault.revision }
            start = number
        } else {
            start = 0
        }
        let page = all[start...].prefix(min(settings.pageSize, Self.mostOfAPage))
        return Reply(
            json: RefundHistoryResponse(
                signedTransactions: page.compactMap(\.signedTransactionInfo), revision: "\(start + page.count)",
                hasMore: start + page.count < all.count))
    }
}

/// App Store Server API, `RefundHistoryResponse`.
private struct RefundHistoryResponse: Encodable {
    let signedTransactions: [String]
    let revision: String
    let hasMore: Bool
}

extension APIFault {
    static let revision = APIFault(status: 400, code: 4_000_005, message: "Invalid request revision.")
}
