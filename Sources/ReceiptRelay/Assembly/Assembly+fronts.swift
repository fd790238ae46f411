import AppStoreServer
import AppleStore
import Cleeng
import Logging
import NIOCore
import Relay
import RelayCore
import ServiceLifecycle

extension Assembly {
    /// - Parameter arrivals: receives accepted purchases; nil without workers in this process.
    func intake(_ parts: SharedParts, _ arrivals: PurchaseArrivals?) -> Intake {
        let memory = parts.store.memory
        return Intake(
            store: parts.store, validationTimeout: settings.validationTimeout, claimer: arrivals,
            onAccepted: { memory.signal(.purchases) })
    }

    /// The HTTP servers, and the feeds that wake the polls which they hold.
    ///
    /// - Parameter intake: nil in a process that accepts no purchases.
    /// - Returns: the app front, if there is one, and the services that end after it.
    func fronts(
        _ parts: SharedParts, _ intake: Intake?, _ readiness: ReadinessWatch
    ) async throws -> (apps: [any Service], others: [any Service]) {
        let store = parts.store
        let front = RelayFront(
            configuration: try await frontConfiguration(parts), features: Features.fronts, store: store, intake: intake,
            keys: parts.keys,
            registry: registry, readiness: { await readiness.readiness }, logger: logger,
            inquirer: CustomerInquiry(
                store: store, upstreams: parts.accounts.map(\.upstream), interval: settings.pollInterval, logger: logger
            ))
        let ops = try front.ops { announce("ops front", $0) }
        guard let apps = front.apps(onListening: { announce("app front", $0) }) else {
            return ([], [ops])
        }
        let feeds = [
            ClosureService { await ChangeFeed(store: store).run() },
            ClosureService { await CustomerFeed(store: store).run() },
        ]
        return ([apps], feeds + [ops])
    }

    private func announce(_ front: String, _ address: SocketAddress) {
        logger.notice(
            "\(front) listening",
            metadata: ["host": "\(address.ipAddress ?? "?")", "port": .stringConvertible(address.port ?? 0)])
    }

    private func frontConfiguration(_ parts: SharedParts) async throws -> FrontConfiguration {
        let (trust, notifications) = (parts.trust, parts.notificationPolicy)
        var configuration = FrontConfiguration(
            receipts: ReceiptPolicy(settings.apple.verification, trust: trust, scope: settings.apple.scope),
            notifications: notifications, topics: settings.topicConfirmer(parts.clients.guarded),
            directories: parts.accounts.map(\.upstream), relaysNotifications: isRelayed)
        (configuration.host, configuration.port) = (settings.httpHost, settings.httpPort)
        (configuration.opsHost, configuration.opsPort) = (settings.opsHost, settings.opsPort)
        configuration.pollInterval = settings.pollInterval
        configuration.maxBodyBytes = settings.maxBodyBytes
        configuration.maxBodiesBytes = settings.maxBodiesBytes
        configuration.trustedProxies = settings.trustedProxies
        configuration.allowedOrigins = settings.allowedOrigins
        let keySets = KeySets(httpClient: parts.clients.common, logger: logger)
        configuration.customerTokens = try await keySets.customers(
            settings.customerJWKS, settings.expectedTokens, maximumAge: settings.customerJWKSMaximumAge)
        configuration.notificationSources = try await notificationSources(parts, keySets)
        configuration.drivers = settings.drivers
        configuration.googleConnector = settings.accounts.map { $0.cleeng.googleURL != nil }
        configuration.transfers = settings.accounts.map(\.transfers)
        configuration.eventSignatures = eventSignatures
        configuration.beginsTraces = spans != nil
        configuration.keyLimit = settings.keyLimit
        configuration.addressLimit = settings.addressLimit
        configuration.requiresTLS = settings.requiresTLS
        configuration.externalStores = parts.stores
        if let appStore = parts.appStore {
            let transactions = AppStoreTransactions(
                gate: appStore, trust: trust, scope: settings.apple.scope, logger: logger)
            configuration.externalStores = parts.stores.map { $0.merging([.apple: transactions]) { $1 } }
            configuration.appStoreAccess = AppStoreAccess(
                client: appStore.client, policy: notifications, trust: trust, scope: settings.apple.scope)
        }
        return configuration
    }

    /// The stores whose notifications this copy accepts.
    private func notificationSources(
        _ parts: SharedParts, _ keySets: KeySets
    ) async throws -> [any NotificationSource] {
        var sources: [any NotificationSource] = [AppleNotifications(policy: parts.notificationPolicy)]
        for platform in StorePlatform.allCases {
            let tools = NotificationTools(
                accesses: settings.accesses(to: platform), keySets: keySets, client: parts.clients.guarded,
                logger: logger)
            guard let source = try await settings.stores[platform]?.notifications(tools) else { continue }
            sources.append(source)
        }
        return sources
    }
}
