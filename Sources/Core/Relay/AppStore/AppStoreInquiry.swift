import AppStoreServer
public import AppleStore
public import Logging
import RelayCore

/// Asks the App Store for a subscription's status: after a purchase, or when Apple has sent no statement.
public struct AppStoreInquiry: Sendable {
    private let gate: AppStoreGate
    private let trust: ChainOfTrust
    private let scope: StoreScope
    private let logger: Logger

    public init(gate: AppStoreGate, trust: ChainOfTrust, scope: StoreScope, logger: Logger) {
        self.gate = gate
        self.trust = trust
        self.scope = scope
        self.logger = logger
    }

    func canAsk(about subscription: LedgerView) -> Bool { question(about: subscription) != nil }

    func ask(about subscription: LedgerView) async -> StoreStatement {
        guard let (environment, bundleID) = question(about: subscription) else { return .nothing }
        guard gate.isOpen(environment, for: bundleID) else { return .away }
        let id = subscription.name.originalTransactionID
        let answer = await gate.ask("subscriptions", in: environment, for: bundleID) {
            await gate.client.statuses(of: id, in: environment, bundleID: bundleID)
        }
        switch answer {
        case .value(let items):
            guard let item = items.first(where: { $0.originalTransactionId == id }) else { return .nothing }
            return await message(item, subscription).map { .stated($0) } ?? .nothing
        case .unknown: return .nothing
        case .misconfigured(let why):
            logger.error("the app store does not let itself be asked", metadata: ["error": "\(why)"])
            return .away
        case .tryAgain(let why, _):
            logger.warning("the app store cannot be asked now", metadata: ["error": "\(why)"])
            return .away
        }
    }

    /// Environment and app for the query.
    private func question(
        about subscription: LedgerView
    ) -> (AppStoreServerClient.Environment, BundleID)? {
        guard let environment = AppStoreServerClient.Environment(rawValue: subscription.name.environment.text),
            let bundleID = subscription.bundleID ?? (scope.bundleIds.count == 1 ? scope.bundleIds.first : nil)
        else { return nil }
        return (environment, bundleID)
    }

    private func message(_ item: SubscriptionStatusItem, _ subscription: LedgerView) async -> LedgerMessage? {
        do {
            let status = try SignedStatus(
                transaction: item.signedTransactionInfo, renewal: item.signedRenewalInfo,
                status: NotificationData.Status(rawValue: item.status))
            try await status.verify(trust, scope)
            guard let statement = status.statement,
                status.transaction.payload.originalTransactionId == subscription.name.originalTransactionID,
                status.transaction.payload.environment.name == subscription.name.environment
            else { return nil }
            let detail = "App Store: \(status.status?.name ?? "status \(item.status)")"
            return LedgerMessage(
                subscription.name, statement, bundleID: status.transaction.payload.bundleId,
                note: .init(event: "looked_up", detail: detail))
        } catch {
            logger.error("what the app store says is not genuine", metadata: ["error": "\(error)"])
            return nil
        }
    }
}
