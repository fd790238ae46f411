import AppStoreServer
public import AppleStore
public import Logging
public import RelayCore

/// Asks the App Store for the subscriptions of a transaction that a publisher names. Returns only data that Apple has
/// signed for one of our apps.
public struct AppStoreTransactions: ExternalStore {
    private let gate: AppStoreGate
    private let trust: ChainOfTrust
    private let scope: StoreScope
    private let logger: Logger

    /// Limit of apps that are tried if the query names none. A named app must be one of ours.
    private static let mostApps = 8
    /// Pause while the gate is shut.
    private static let pause = Duration.seconds(10)

    public init(gate: AppStoreGate, trust: ChainOfTrust, scope: StoreScope, logger: Logger) {
        self.gate = gate
        self.trust = trust
        self.scope = scope
        self.logger = logger
    }

    /// Asks production first; if it does not know the transaction, the sandbox.
    public func find(_ query: ExternalStoreQuery) async -> ExternalStoreAnswer {
        guard query.platform == .apple else { return .notConfigured }
        let (id, bundleID) = (TransactionID(query.id), query.detail)
        if let bundleID, !scope.bundleIds.isEmpty, !scope.bundleIds.contains(bundleID) {
            return .no("AppleIapBundleId is not one of the apps that this relay speaks for")
        }
        let apps = bundleID.map { [$0] } ?? scope.bundleIds.sorted()
        guard !apps.isEmpty else { return .no("AppleIapBundleId is required here") }
        var trouble: ExternalStoreAnswer?
        for environment in AppStoreServerClient.Environment.allCases where takes(environment) {
            for app in apps.prefix(Self.mostApps) {
                switch await ask(id, environment, app) {
                case .unknown: continue
                case .tryAgain(let pause): trouble = .tryAgain(after: pause)
                case let answer: return answer
                }
            }
        }
        return trouble ?? .unknown
    }

    private func takes(_ environment: AppStoreServerClient.Environment) -> Bool {
        scope.environments.contains(environment == .production ? .production : .sandbox)
    }

    private func ask(
        _ id: TransactionID, _ environment: AppStoreServerClient.Environment, _ bundleID: BundleID
    ) async -> ExternalStoreAnswer {
        guard gate.isOpen(environment, for: bundleID) else { return .tryAgain(after: Self.pause) }
        let answer = await gate.ask("subscriptions", in: environment, for: bundleID) {
            await gate.client.statuses(of: id, in: environment, bundleID: bundleID)
        }
        switch answer {
        case .value(let items): return await judge(items, of: id)
        case .unknown: return .unknown
        case .misconfigured(let why):
            logger.error("the app store does not let itself be asked", metadata: ["error": "\(why)"])
            return .tryAgain(after: Self.pause)
        case .tryAgain(let why, let retryAfter):
            logger.warning("the app store cannot be asked now", metadata: ["error": "\(why)"])
            return .tryAgain(after: max(Self.pause, retryAfter ?? .zero))
        }
    }

    /// Apple lists all subscriptions of the transaction's customer. If the transaction id names one of them, only that
    /// one counts. Otherwise it belongs to an earlier renewal, and all count.
    private func judge(_ items: [SubscriptionStatusItem], of id: TransactionID) async -> ExternalStoreAnswer {
        var found: [(ExternalSubscription, isNamed: Bool)] = []
        for item in items {
            do {
                let status = try SignedStatus(
                    transaction: item.signedTransactionInfo, renewal: item.signedRenewalInfo,
                    status: NotificationData.Status(rawValue: item.status))
                try await status.verify(trust, scope)
                let payload = status.transaction.payload
                guard let statement = status.statement, let key = payload.originalTransactionId,
                    key == item.originalTransactionId
                else { continue }
                found.append(
                    (
                        ExternalSubscription(
                            key: key, environment: payload.environment.name, statement: statement,
                            bundleID: payload.bundleId),
                        key == id || payload.transactionId == id
                    ))
            } catch {
                logger.error("what the app store says is not genuine", metadata: ["error": "\(error)"])
            }
        }
        let named = found.filter(\.isNamed)
        let counting = (named.isEmpty ? found : named).map(\.0)
        return counting.isEmpty ? .unknown : .found(counting)
    }
}
