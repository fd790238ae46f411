import AppStoreSimulation
import Foundation

/// `POST /inApps/v1/notifications/history` (App Store Server API, "Get Notification History").
extension SimulatedServerAPI {
    func page(for call: APICall, at now: Date) throws -> Reply {
        let request = try HistoryRequest(body: call.body, at: now)
        var start = NotificationHistory.Position(signedDate: request.startDate, sequence: 0)
        if let text = call.values("paginationToken").first {
            guard let token = HistoryToken(text, for: request) else { throw APIFault.paginationToken }
            start = max(start, token.position)
        }
        let following = history.items.filter { $0.position > start && matches($0, request) }
        let page = following.prefix(settings.pageSize)
        return Reply(
            json: HistoryResponse(
                notificationHistory: page.map {
                    HistoryResponse.Item(signedPayload: $0.signedPayload, sendAttempts: $0.attempts)
                },
                hasMore: following.count > page.count,
                paginationToken: HistoryToken(page.last?.position ?? start, for: request).text))
    }

    private func matches(_ told: ToldNotification, _ request: HistoryRequest) -> Bool {
        guard told.environment == settings.environment, told.bundleId == settings.bundleId,
            told.signedDate < request.endDate, !(request.onlyFailures && told.wasTaken),
            request.notificationType == nil || told.type == request.notificationType,
            request.notificationSubtype == nil || told.subtype == request.notificationSubtype
        else { return false }
        guard let transactionId = request.transactionId else { return true }
        if told.transactionIds.contains(transactionId) { return true }
        // One of the subscription's other transactions.
        return told.originalTransactionId.map { $0 == shelf.find(transactionId)?.number } ?? false
    }
}

/// App Store Server API, `NotificationHistoryResponse`.
private struct HistoryResponse: Encodable {
    struct Item: Encodable {
        let signedPayload: String
        let sendAttempts: [SendAttempt]
    }

    let notificationHistory: [Item]
    let hasMore: Bool
    let paginationToken: String
}
