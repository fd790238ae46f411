import HTTPServer
import Hummingbird
public import Logging
public import NIOCore
import RelayCore
public import ServiceLifecycle
public import Telemetry

/// The HTTP servers of the relay: one for apps and one for operators, each on its own port.
///
/// On graceful shutdown each stops accepting, wakes every held poll and answers it with the present state (``Front``).
public struct RelayFront: Sendable {
    /// Called with the address once a front listens.
    public typealias OnListening = @Sendable (SocketAddress) async -> Void

    private let configuration: FrontConfiguration
    private let features: [FrontFeature]
    private let store: RelayStore
    private let intake: Intake?
    private let authenticator: Authenticator
    private let registry: PrometheusRegistry
    private let readiness: @Sendable () async -> Readiness
    private let metrics: FrontMetrics
    private let intakeMetrics: IntakeMetrics
    private let bodyBudget: BodyBudget
    /// Budget of routes that need no key. A client that sends such bodies slowly must not use up the space for
    /// purchases.
    private let keylessBodyBudget: BodyBudget
    private let logger: Logger
    private let inquirer: any CustomerInquirer
    private let limits: RateLimits

    /// - Parameters:
    ///   - intake: nil in a copy that accepts no purchases; it has no ``apps(onListening:)``.
    ///   - registry: holds the fronts' metrics; `/metrics` shows it.
    ///   - readiness: state for `/readyz`; must end within seconds.
    ///   - inquirer: asks Cleeng about a customer at once, for the app or an operator.
    public init(
        configuration: FrontConfiguration, features: [FrontFeature], store: RelayStore, intake: Intake?, keys: KeyRing,
        registry: PrometheusRegistry, readiness: @escaping @Sendable () async -> Readiness, logger: Logger,
        inquirer: any CustomerInquirer
    ) {
        self.configuration = configuration
        self.features = features
        self.store = store
        self.intake = intake
        let limits = RateLimits(
            keys: configuration.keyLimit.map { RateLimiter("key", $0) },
            addresses: configuration.addressLimit.map { RateLimiter("address", $0) },
            trustedProxies: configuration.trustedProxies)
        self.limits = limits
        self.authenticator = Authenticator(
            keys: keys, customerTokens: configuration.customerTokens, clock: store.memory.clock, limits: limits)
        self.registry = registry
        self.readiness = readiness
        self.metrics = FrontMetrics(registry: registry)
        self.intakeMetrics = IntakeMetrics(registry: registry)
        let maxBodiesBytes = max(configuration.maxBodiesBytes, configuration.maxBodyBytes)
        let bodyBudget = BodyBudget(limit: maxBodiesBytes)
        self.bodyBudget = bodyBudget
        keylessBodyBudget = BodyBudget(limit: max(maxBodiesBytes / 8, Self.maxNotificationBytes))
        self.logger = logger
        self.inquirer = inquirer
        registry.registerGauge("http_server_held_polls", help: "Polls that are held open now.") {
            Double(store.memory.changes.waiterCount)
        }
        registry.registerGauge("http_server_body_bytes", help: "Bytes of request bodies that are held now.") {
            [keylessBodyBudget] in Double(bodyBudget.bytes + keylessBodyBudget.bytes)
        }
    }

    /// The front for apps; nil without an intake.
    public func apps(onListening: @escaping OnListening = { _ in }) -> (any Service)? {
        guard let intake else { return nil }
        let poll = PollInterval(configuration.pollInterval)
        let stores = StoreGate(configuration.externalStores)
        registry.registerGauge(
            "relay_store_questions",
            help: "Purchases that stores other than Apple's are being asked about."
        ) { Double(stores.questions) }
        let acceptor = PurchaseAcceptor(
            store: store, intake: intake, receipts: configuration.receipts, drivers: configuration.drivers,
            numbers: NumberGate(directories: configuration.directories, drivers: configuration.drivers), stores: stores,
            transfers: TransferGate(store: store, rules: configuration.transfers, logger: logger),
            metrics: intakeMetrics)
        let bodies = BodyReader(maximumBytes: configuration.maxBodyBytes)
        let payments = PaymentRoutes(
            acceptor: acceptor, authenticator: authenticator, googleConnector: configuration.googleConnector,
            bodies: bodies, budget: bodyBudget, trustedProxies: configuration.trustedProxies, poll: poll)
        let entitlements = EntitlementRoutes(
            store: store, authenticator: authenticator,
            holder: PollHolder(store: store, keys: authenticator.keys, maximumHeld: Self.maxHeldPolls), poll: poll,
            inquirer: inquirer)
        let notifications = NotificationRoutes(
            store: store, sources: configuration.notificationSources, isRelayed: configuration.relaysNotifications,
            bodies: BodyReader(maximumBytes: min(configuration.maxBodyBytes, Self.maxNotificationBytes)),
            budget: keylessBodyBudget, metrics: NotificationMetrics(registry: registry), logger: logger)
        var events: [Route] = []
        if !configuration.eventSignatures.isEmpty {
            CleengEventRoutes.describe(in: registry)
            events =
                CleengEventRoutes(
                    store: store, signatures: configuration.eventSignatures,
                    bodies: BodyReader(maximumBytes: Self.maxEventBytes),
                    budget: keylessBodyBudget, registry: registry
                ).routes
        }
        let apps = payments.routes + entitlements.routes
        let crossOrigin = CrossOrigin(configuration.allowedOrigins, apps, sending: Self.pageFields)
        // Their callers are few, sign or have a limit of their own, and stop after a few tries.
        let fromStores = (notifications.routes + events).map(\.unlimited)
        let parts = FrontFeature.Parts(
            authenticator: authenticator, acceptor: acceptor, limits: limits, budget: bodyBudget,
            keylessBudget: keylessBodyBudget, maxBodyBytes: configuration.maxBodyBytes,
            requiresTLS: configuration.requiresTLS)
        var front = Front(
            apps + crossOrigin.preflights + fromStores + features.flatMap { $0.routes(parts) },
            gate: RequestGate(
                metrics: metrics, logger: logger, crossOrigin: crossOrigin, limits: limits,
                beginsTraces: configuration.beginsTraces),
            maxBodyBytes: configuration.maxBodyBytes,
            maxConnections: OpenFileLimit.connections(wanted: Self.maxAppConnections))
        front.dialects = features.flatMap(\.dialects)
        front.onShutdown = store.memory.changes.shutDown
        front.drain = stores.drain
        return service(front, host: configuration.host, port: configuration.port, onListening)
    }

    /// The front for operators, their tools and probes.
    ///
    /// - Throws: if a feature cannot make its part.
    public func ops(onListening: @escaping OnListening = { _ in }) throws -> any Service {
        let bodies = BodyReader(maximumBytes: Self.maxOpsBodyBytes)
        let operations = Operations(store: store)
        let tools = OpsTools(
            operations: operations,
            notifications: NotificationReader(
                policy: configuration.notifications, isRelayed: configuration.relaysNotifications),
            topics: configuration.topics, appStore: configuration.appStoreAccess,
            inquirer: inquirer)
        let parts = FrontFeature.OpsParts(
            store: store, authenticator: authenticator, tools: tools, pages: features.flatMap(\.pages))
        let added = try features.map { try $0.ops(parts) }
        let routes =
            ProbeRoutes(registry: registry, readiness: readiness).routes
            + OpsViewRoutes(store: store, authenticator: authenticator).routes
            + OpsActRoutes(tools: tools, authenticator: authenticator, bodies: bodies).routes
            + added.flatMap(\.routes)
        var front = Front(
            routes, gate: RequestGate(metrics: metrics, logger: logger), maxBodyBytes: Self.maxOpsBodyBytes,
            maxConnections: Self.maxOpsConnections)
        front.dialects = added.flatMap(\.dialects) + features.flatMap(\.dialects)
        return service(front, host: configuration.opsHost, port: configuration.opsPort, onListening)
    }

    private func service(
        _ front: Front, host: String, port: Int, _ onListening: @escaping OnListening
    ) -> any Service {
        var front = front
        front.foldedPaths = features.flatMap(\.foldedPaths)
        front.describe = { Problem(describing: $0) }
        return front.service(on: .hostname(host, port: port), onListening: onListening)
    }

    /// Version 2 has twenty kilobytes; version 1 contains a receipt and up to a hundred transactions.
    private static let maxNotificationBytes = 2 << 20
    private static let maxOpsBodyBytes = 64 << 10
    /// Cleeng's events have about one kilobyte.
    private static let maxEventBytes = 256 << 10
    private static let maxOpsConnections = 128
    /// Further connections wait in the backlog. The process's limit of open files is a second bound.
    private static let maxAppConnections = 18_000
    /// Further polls are answered at once. Each held poll costs about 20 KiB.
    private static let maxHeldPolls = 15_000
    /// Header fields that a web page may send.
    private static let pageFields =
        "Authorization, Content-Type, Idempotency-Key, If-None-Match, Prefer, X-Customer-Token, Cache-Control, "
        + "traceparent, tracestate"
}
