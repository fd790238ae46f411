import AppStoreSimulation
import Foundation

/// `GET /inApps/v1/subscriptions/{transactionId}` (App Store Server API, "Get All Subscription Statuses").
extension SimulatedServerAPI {
    func subscriptions(of transactionId: String, _ call: APICall, at now: Date) throws -> Reply {
        guard SimulatedStanding.isNumber(transactionId) else { throw APIFault.transactionId }
        let wanted = try call.values("status").map { text in
            guard let status = Int(text).flatMap(SimulatedNotification.Status.init) else {
                throw APIFault.subscriptionStatus
            }
            return status
        }
        guard let found = shelf.find(transactionId), found.transaction.environment == settings.environment,
            found.transaction.bundleId == settings.bundleId
        else { throw APIFault.notFound }
        let status = found.status ?? SimulatedNotification.Status(found.transaction, found.renewal, at: now)
        let isWanted = wanted.isEmpty || wanted.contains(status)
        return Reply(
            json: StatusResponse(
                environment: settings.environment, bundleId: settings.bundleId, appAppleId: settings.appAppleId,
                data: isWanted ? [try group(found, status, at: now)] : []))
    }

    private func group(
        _ found: KeptSubscription, _ status: SimulatedNotification.Status, at now: Date
    ) throws -> StatusResponse.Group {
        StatusResponse.Group(
            subscriptionGroupIdentifier: found.group,
            lastTransactions: [
                StatusResponse.Item(
                    originalTransactionId: found.number, status: status.rawValue,
                    signedTransactionInfo: try settings.authority.sign(json: found.transaction.json(signedDate: now)),
                    signedRenewalInfo: try settings.authority.sign(json: found.renewal.json(signedDate: now)))
            ])
    }
}

/// App Store Server API, `StatusResponse`.
private struct StatusResponse: Encodable {
    struct Group: Encodable {
        let subscriptionGroupIdentifier: String
        let lastTransactions: [Item]
    }

    struct Item: Encodable {
        let originalTransactionId: String
        let status: Int
        let signedTransactionInfo: String
        let signedRenewalInfo: String
    }

    let environment: String
    let bundleId: String
    let appAppleId: Int64?
    let data: [Group]
}
