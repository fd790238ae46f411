import AppStoreServer
import AppleStore
import Foundation
import Postgres
import Relay
import RelayCore
import ServiceLifecycle
import Telemetry
import TraceExport
import Traces

/// Parts that a whole process shares.
struct SharedParts: Sendable {
    let clients: OutboundClients
    let signals: Signals
    let pool: PostgresPool
    let store: RelayStore
    let keys: KeyRing
    let trust: ChainOfTrust
    let notificationPolicy: NotificationPolicy
    let accounts: PerPublisher<CleengAccount>
    /// The stores other than Apple's.
    let stores: PerPublisher<[StorePlatform: any ExternalStore]>
    /// Nil without a key of the App Store Server API.
    let appStore: AppStoreGate?
}

extension Assembly {
    func sharedParts(_ clients: OutboundClients) -> SharedParts {
        let vault = Vault(settings.wrappingKeys)
        let pool = PostgresPool(poolConfiguration(vault), logger: logger, observer: DatabaseMetrics(registry: registry))
        let accounts = settings.accounts.map { Account(settings: $0) }
        let signals = Signals(accounts: accounts)
        let store = RelayStore(
            pool: pool, vault: vault, instance: Self.instanceName(), logger: logger,
            features: Features.stored, acknowledged: settings.acknowledged,
            leeway: settings.apple.renewalLeeway,
            grantsAskedAt: settings.grantsAskedAt, recheck: settings.storeRecheck, accounts: settings.roster,
            onDue: signals.signal)
        let trust = ChainOfTrust(settings.apple.roots)
        return SharedParts(
            clients: clients, signals: signals, pool: pool, store: store, keys: KeyRing(store: store), trust: trust,
            notificationPolicy: NotificationPolicy(
                trust: trust, scope: settings.apple.scope, sharedSecret: settings.apple.sharedSecret),
            accounts: upstreams(accounts, store, clients.cleeng, registry, signals.health),
            stores: externalStores(clients.stores, store.memory.clock),
            appStore: settings.appStore.map { appStore in
                AppStoreGate(
                    client: AppStoreServerClient(
                        urls: appStore.urls, credentials: appStore.credentials, timeout: settings.upstreamTimeout,
                        httpClient: clients.common, logger: logger))
            })
    }

    /// Services that all others need. They start first and stop last.
    func foundation(_ parts: SharedParts, _ readiness: ReadinessWatch) -> [any Service] {
        let store = parts.store
        // The exporter is the very first, so that it also sends the spans of stopping services.
        var services: [any Service] = spanExporter(parts).map { [$0] } ?? []
        services += [
            ClosureService { await parts.pool.run() }, ClosureService.databaseClock(store), readiness,
            ClosureService { await parts.keys.run() },
            Janitor(store: store, logger: logger), ClosureService { await store.offers.keepReady() },
            AccountWatch(
                store: store, roster: settings.roster, own: Set(settings.accounts.own.keys), logger: logger,
                registry: registry),
        ]
        if let revocation = revocationWatch(parts.trust, parts.clients.stores) {
            RelayMetrics.register(in: registry, revocation: revocation)
            services.append(revocation)
        }
        let retention = RetentionService(store: store, policy: settings.retention, logger: logger)
        RetentionMetrics.register(in: registry, service: retention)
        services.append(retention)
        return services
    }

    /// The services that report what this process does, in the database and in metrics.
    func reporters(_ parts: SharedParts) -> [any Service] {
        RelayMetrics.register(in: registry, store: parts.store)
        ProcessMetrics.register(in: registry, version: ReceiptRelayCommand.version)
        return [
            ActivityReporter(store: parts.store, registry: registry),
            InstanceReporter(
                store: parts.store, upstreams: role == .front ? [] : parts.accounts.all.map(\.upstream),
                news: parts.signals.health, role: role.rawValue),
            ClosureService.eventLoopWatch(registry),
        ]
    }

    private func poolConfiguration(_ vault: Vault) -> PostgresConfiguration {
        var configuration = PostgresConfiguration(connectionString: settings.databaseURL)
        configuration.applicationName = "receipt-relay"
        configuration.sharedConnections = settings.databaseConnections
        configuration.exclusiveConnections = 2
        configuration.maxWaiting = 20_000
        configuration.sessionParameters = RelayStore.sessionParameters
        configuration.preparesStatements = settings.preparesStatements
        configuration.vault = vault
        return configuration
    }

    private func spanExporter(_ parts: SharedParts) -> (any Service)? {
        guard let spans, let target = settings.tracing.target else { return nil }
        return SpanExporter(
            buffer: spans, target: target,
            resource: TraceResource(
                serviceName: settings.tracing.serviceName, version: ReceiptRelayCommand.version,
                instance: parts.store.memory.instance),
            httpClient: parts.clients.common, logger: logger)
    }

    /// Name that distinguishes the copies on one machine, and the starts of one copy.
    private static func instanceName() -> String {
        let random = String(UInt32.random(in: .min ... .max), radix: 16)
        return "\(ProcessInfo.processInfo.hostName)-\(ProcessInfo.processInfo.processIdentifier)-\(random)"
    }
}
