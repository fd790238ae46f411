import AmazonAppStore
import AppStoreServer
import AppleStore
import AsyncHTTPClient
import Cleeng
import ConsolePages
import Foundation
import GooglePlay
import Logging
import Metrics
import NIOCore
import Operations
import OutboundHTTP
import Postgres
import RelayCore
import RelayFront
import RelayStore
import RelayWorkers
import ServiceLifecycle
import Telemetry
import TraceExport
import Traces
import UnixSignals
import Webhooks

/// Creates all parts of a process from its settings and connects them.
struct Assembly: Sendable {
    let settings: ServeSettings
    let role: Serve.Role
    let registry: PrometheusRegistry
    /// Nil: no spans are recorded.
    let spans: SpanBuffer?
    let logger = Logger(label: "relay")

    func run() async throws {
        try await PortCheck.run(listeningAddresses)
        Task { await ShutdownWatch(logger: logger).run() }
        let vault = Vault(settings.wrappingKeys)
        let pool = PostgresPool(poolConfiguration(vault), logger: logger, observer: DatabaseMetrics(registry: registry))
        let accounts = settings.accounts.map { Account(settings: $0) }
        let signals = Signals(accounts: accounts)
        let store = RelayStore(
            pool: pool, vault: vault, instance: Self.instanceName(), logger: logger,
            acknowledged: settings.acknowledged, recheck: settings.storeRecheck, onDue: signals.signal)
        let watch = ReadinessWatch(
            store: store, probes: role == .front ? [.accept] : role == .worker ? [.claim] : [.accept, .claim],
            logger: logger)
        let keys = KeyRing(store: store)
        let trust = ChainOfTrust(settings.apple.roots)
        let notificationPolicy = NotificationPolicy(
            trust: trust, scope: settings.apple.scope, sharedSecret: settings.apple.sharedSecret)
        let cleeng = settings.accounts.common.cleeng
        let connections = cleeng.connections(ofAccounts: settings.accounts.all.count)
        defer { connections.shutDown() }
        let httpClient = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: .outbound(
                connectTimeout: cleeng.upstreamTimeout,
                connectionsPerHost: cleeng.connectionsPerHost * settings.accounts.all.count))
        let storeClient = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .outbound())
        let guarded = GuardedClient(policy: settings.webhooks.policy)
        let google = googleClients(storeClient)
        let stores = externalStores(google, storeClient, store.memory.clock)

        // Services start in this order and stop in the reverse one.
        var services: [any Service] = [
            // The pool is first and so stops last, since all others need it while they stop.
            ClosureService { await pool.run() }, ClosureService.databaseClock(store), watch,
            ClosureService { await keys.run() },
            Janitor(store: store, logger: logger), ClosureService { await store.offers.keepReady() },
            AccountWatch(
                store: store, roster: settings.roster, own: Set(settings.accounts.own.keys), logger: logger,
                registry: registry),
        ]
        if let exporter = spanExporter(httpClient, instance: store.memory.instance) { services.insert(exporter, at: 0) }
        if let revocation = revocationWatch(trust, storeClient) {
            RelayMetrics.register(in: registry, revocation: revocation)
            services.append(revocation)
        }
        let retention = RetentionService(store: store, policy: settings.retention, logger: logger)
        RetentionMetrics.register(in: registry, service: retention)
        services.append(retention)
        let appStore = settings.appStore.map { appStore in
            AppStoreGate(
                client: AppStoreServerClient(
                    urls: appStore.urls, credentials: appStore.credentials,
                    timeout: settings.upstreamTimeout, httpClient: httpClient, logger: logger))
        }
        let upstreams = self.upstreams(accounts, store, connections, registry, signals.health)
        let inquirer = CustomerInquiry(
            store: store, upstreams: upstreams.map(\.upstream), interval: settings.pollInterval,
            leeway: settings.apple.renewalLeeway, logger: logger)
        var arrivals: PurchaseArrivals?
        if role != .front {
            let inquiry = StoreInquiry(stores: stores, logger: logger)
            let ledgers = LedgerService(
                store: store, upstreams: upstreams.map(\.upstream),
                appStore: appStore.map {
                    AppStoreInquiry(gate: $0, trust: trust, scope: settings.apple.scope, logger: logger)
                },
                stores: inquiry, leeway: settings.apple.renewalLeeway,
                readInterval: settings.pollInterval, wakeup: signals.subscriptions, logger: logger)
            let pursuits = self.pursuits(upstreams, store, registry, listener: ledgers)
            arrivals = PurchaseArrivals(pursuits.map(\.pursuits))
            services += pursuits.all.map(\.pursuits)
            services.append(ledgers)
            services.append(
                StoreQuestions(
                    store: store, inquiry: inquiry, own: Array(stores.own.keys),
                    leeway: settings.apple.renewalLeeway, wakeup: signals.questions, logger: logger))
            if google.all.contains(where: { $0 != nil }) {
                services.append(
                    VoidedSweep(
                        store: store, clients: google, leeway: settings.apple.renewalLeeway,
                        interval: settings.voidedSweep, logger: logger))
                registry.registerGauge("relay_sweep_interval_seconds", help: "Between two sweeps of an app.") {
                    settings.voidedSweep.seconds
                }
            }
            services.append(
                ConsumptionAnswers(
                    store: store, gate: appStore, callTimeout: settings.upstreamTimeout, wakeup: signals.consumption,
                    logger: logger))
            services.append(GrantCheckService(store: store, logger: logger))
            let catalogue = CatalogueCheck(store: store, logger: logger)
            RelayMetrics.register(in: registry, catalogue: catalogue)
            services.append(catalogue)
            services.append(
                CleengEventService(
                    store: store, accounts: pursuits,
                    ledgers: ledgers, wakeup: signals.events, logger: logger))
            services += notificationRelays(accounts, store, httpClient)
            if let appStore, let interval = settings.appStore?.historyInterval {
                services.append(
                    MissedNotifications(
                        store: store, gate: appStore, policy: notificationPolicy, scope: settings.apple.scope,
                        isRelayed: isRelayed, leeway: settings.apple.renewalLeeway,
                        interval: interval, logger: logger))
            }
            let webhooks = DeliveryService(
                store: store, client: settings.webhooks.client,
                credentials: settings.webhooks.credentials,
                settings: DeliverySettings(retries: settings.webhooks.retries, idleTick: DueWatch.fallback),
                wakeup: signals.webhooks, logger: logger)
            registry.registerGauge("relay_webhooks_in_flight", help: "Messages that are being sent to endpoints.") {
                Double(webhooks.inFlight)
            }
            services.append(webhooks)
            services.append(
                CustomerUpdateService(
                    store: store, leeway: settings.apple.renewalLeeway, listed: settings.webhooks.urls,
                    wakeup: signals.customers, logger: logger, idleTick: DueWatch.fallback))
            services.append(DueWatch(store: store, logger: logger, signal: signals.signal))
        }
        services.append(ActivityReporter(store: store, registry: registry))
        services.append(
            InstanceReporter(
                store: store, upstreams: role == .front ? [] : upstreams.all.map(\.upstream), news: signals.health,
                role: role.rawValue))
        let intake: Intake? =
            role == .worker
            ? nil
            : Intake(
                store: store, validationTimeout: settings.validationTimeout, taker: arrivals,
                onAccepted: { store.memory.signal(.purchases) })
        if intake != nil {
            services.append(ClosureService { await ChangeFeed(store: store).run() })
            services.append(ClosureService { await CustomerFeed(store: store).run() })
        }
        RelayMetrics.register(in: registry, store: store)
        ProcessMetrics.register(in: registry, version: ReceiptRelayCommand.version)
        services.append(ClosureService.eventLoopWatch(registry))

        let fronts: FrontConfiguration
        do {
            fronts = try await frontConfiguration(httpClient, guarded, trust, notificationPolicy, appStore, stores)
        } catch {
            // An HTTP client that is released without shutdown crashes the process.
            try? await httpClient.shutdown()
            try? await storeClient.shutdown()
            await guarded.shutDown()
            throw error
        }
        let front = RelayFront(
            configuration: fronts, store: store,
            intake: intake, keys: keys,
            registry: registry, readiness: { await watch.readiness }, logger: logger, inquirer: inquirer)
        services.append(front.ops { announce("ops front", $0) })
        if let apps = front.apps(onListening: { announce("app front", $0) }) { services.append(apps) }

        for warning in intake == nil ? settings.addressWarnings : settings.warnings {
            logger.warning("\(warning)")
        }
        logger.notice("starting", metadata: ["role": "\(role.rawValue)", "instance": "\(store.memory.instance)"])
        for target in settings.cleengTargets {
            var metadata: Logger.Metadata = ["environment": "\(target.environment)", "host": "\(target.host)"]
            if let publisher = target.publisher { metadata["publisher"] = "\(publisher)" }
            logger.notice("purchases go to Cleeng", metadata: metadata)
        }
        let group = ServiceGroup(
            configuration: .init(
                services: services.map { .init(service: $0) }, gracefulShutdownSignals: [.sigterm, .sigint],
                logger: quietLogger))
        do {
            try await group.run()
        } catch {
            logger.critical("ended by an error", metadata: ["error": "\(error)"])
            await intake?.drain()
            try? await httpClient.shutdown()
            try? await storeClient.shutdown()
            await guarded.shutDown()
            throw Failure(Self.advice(error), 70)
        }
        await intake?.drain()
        try await httpClient.shutdown()
        try await storeClient.shutdown()
        await guarded.shutDown()
        logger.notice("ended")
    }

    /// Advice on an error that ended the service group: nearly always an address that cannot be bound.
    private static func advice(_ error: any Error) -> String {
        guard let error = error as? IOError else { return "\(error)".split(separator: "\n").joined(separator: " ") }
        let settings = [Setting.httpHost, .httpPort, .opsHost, .opsPort].map(\.name).joined(separator: ", ")
        return "cannot listen (\(String(cString: strerror(error.errnoCode)))): look at \(settings)"
    }

    private var listeningAddresses: [PortCheck.Address] {
        let ops = PortCheck.Address(host: settings.opsHost, port: settings.opsPort, settings: [.opsHost, .opsPort])
        guard role != .worker else { return [ops] }
        return [
            PortCheck.Address(host: settings.httpHost, port: settings.httpPort, settings: [.httpHost, .httpPort]), ops,
        ]
    }

    private func announce(_ front: String, _ address: SocketAddress) {
        logger.notice(
            "\(front) listening",
            metadata: ["host": "\(address.ipAddress ?? "?")", "port": .stringConvertible(address.port ?? 0)])
    }

    /// Logger of the service group, which otherwise logs every step of every service.
    private var quietLogger: Logger {
        var logger = logger
        logger.logLevel = max(logger.logLevel, .warning)
        return logger
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

    private func frontConfiguration(
        _ httpClient: HTTPClient, _ guarded: GuardedClient, _ trust: ChainOfTrust, _ notifications: NotificationPolicy,
        _ appStore: AppStoreGate?, _ stores: PerPublisher<[StorePlatform: any ExternalStore]>
    ) async throws -> FrontConfiguration {
        var configuration = FrontConfiguration(
            receipts: ReceiptPolicy(settings.apple.verification, trust: trust, scope: settings.apple.scope),
            notifications: notifications, relaysNotifications: isRelayed, renewalLeeway: settings.apple.renewalLeeway,
            console: try ConsolePages())
        (configuration.host, configuration.port) = (settings.httpHost, settings.httpPort)
        (configuration.opsHost, configuration.opsPort) = (settings.opsHost, settings.opsPort)
        configuration.pollInterval = settings.pollInterval
        configuration.maxBodyBytes = settings.maxBodyBytes
        configuration.maxBodiesBytes = settings.maxBodiesBytes
        configuration.trustedProxies = settings.trustedProxies
        configuration.allowedOrigins = settings.allowedOrigins
        let keySets = KeySets(httpClient: httpClient, logger: logger)
        configuration.customerTokens = try await keySets.customers(
            settings.customerJWKS, settings.expectedTokens, maximumAge: settings.customerJWKSMaximumAge)
        if let push = settings.googlePush {
            configuration.googlePush = GooglePushPolicy(
                keys: try await keySets.fetched(from: push.keysURL, of: "Google's pushes"), audience: push.audience,
                email: push.email, packages: settings.googlePackages)
        }
        configuration.amazonPush = try settings.amazonPush.policy(guarded, logger)
        // One Roku account has one address for its pushes, and the relay has one route for them.
        let rokuAccounts = settings.accounts.all.compactMap(\.roku)
        guard settings.rokuPush.unsigned != .answerKey || rokuAccounts.count < 2 else {
            throw SettingError.malformed(
                .rokuUnsigned, wants: "signal or refuse, where several publishers have keys of Roku's")
        }
        if let roku = rokuAccounts.first {
            let keys = try await keySets.fetched(from: settings.rokuPush.keysURL, of: "Roku's pushes")
            configuration.rokuPush = settings.rokuPush.policy(keys, of: roku)
        }
        configuration.drivers = settings.drivers
        configuration.googleConnector = settings.accounts.map { $0.cleeng.googleURL != nil }
        configuration.transfers = settings.accounts.map(\.transfers)
        configuration.eventSignatures = eventSignatures
        configuration.beginsTraces = spans != nil
        configuration.keyLimit = settings.keyLimit
        configuration.addressLimit = settings.addressLimit
        configuration.requiresTLS = settings.requiresTLS
        configuration.databaseHosts = PostgresConfiguration(connectionString: settings.databaseURL).place
        configuration.externalStores = stores
        if let appStore {
            let transactions = AppStoreTransactions(
                gate: appStore, trust: trust, scope: settings.apple.scope, logger: logger)
            configuration.externalStores = stores.map { $0.merging([.apple: transactions]) { $1 } }
            configuration.appStoreAccess = AppStoreAccess(
                client: appStore.client, policy: notifications, trust: trust, scope: settings.apple.scope)
        }
        return configuration
    }

    /// The exporter starts first and stops last, so that it also sends the spans of stopping services.
    private func spanExporter(_ httpClient: HTTPClient, instance: String) -> (any Service)? {
        guard let spans, let target = settings.tracing.target else { return nil }
        return SpanExporter(
            buffer: spans, target: target,
            resource: TraceResource(
                serviceName: settings.tracing.serviceName, version: ReceiptRelayCommand.version, instance: instance),
            httpClient: httpClient, logger: logger)
    }

    /// Name that distinguishes the copies on one machine, and the starts of one copy.
    private static func instanceName() -> String {
        let random = String(UInt32.random(in: .min ... .max), radix: 16)
        return "\(ProcessInfo.processInfo.hostName)-\(ProcessInfo.processInfo.processIdentifier)-\(random)"
    }
}
