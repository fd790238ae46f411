import Hummingbird
import HummingbirdCore
public import Logging
public import NIOCore
import NIOPosix
import Operations
public import RelayStore
public import ServiceLifecycle
public import Telemetry

/// The HTTP servers of the relay: one for apps and one for operators, each on its own port.
///
/// On graceful shutdown each stops accepting, wakes every held poll and answers it with the present state. It answers
/// the requests that have arrived, and cuts what is left after eight seconds.
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
            transfers: TransferGate(store: store, rules: configuration.transfers, logger: logger), metrics: metrics)
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
        let crossOrigin = CrossOrigin(configuration.allowedOrigins, apps)
        let fromStores = notifications.routes + events
        let parts = FrontFeature.Parts(
            authenticator: authenticator, acceptor: acceptor, limits: limits, budget: bodyBudget,
            keylessBudget: keylessBodyBudget, maxBodyBytes: configuration.maxBodyBytes,
            requiresTLS: configuration.requiresTLS)
        return service(
            apps + crossOrigin.preflights + fromStores + features.flatMap { $0.routes(parts) },
            address: .hostname(configuration.host, port: configuration.port), maxBodyBytes: configuration.maxBodyBytes,
            maxConnections: OpenFileLimit.connections(wanted: Self.maxAppConnections),
            limits: limits, crossOrigin: crossOrigin, beginsTraces: configuration.beginsTraces,
            onListening: onListening, onShutdown: store.memory.changes.shutDown, drain: stores.drain)
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
            store: store, keys: authenticator.keys, tools: tools, pages: features.flatMap(\.pages))
        let added = try features.map { try $0.ops(parts) }
        let routes =
            ProbeRoutes(registry: registry, readiness: readiness).routes
            + OpsViewRoutes(store: store, authenticator: authenticator).routes
            + OpsActRoutes(tools: tools, authenticator: authenticator, bodies: bodies).routes
            + added.flatMap(\.routes)
        return service(
            routes, dialects: added.flatMap(\.dialects),
            address: .hostname(configuration.opsHost, port: configuration.opsPort),
            maxBodyBytes: Self.maxOpsBodyBytes, maxConnections: Self.maxOpsConnections, onListening: onListening)
    }

    /// Version 2 has twenty kilobytes; version 1 contains a receipt and up to a hundred transactions.
    private static let maxNotificationBytes = 2 << 20
    private static let maxOpsBodyBytes = 64 << 10
    /// Cleeng's events have about one kilobyte.
    private static let maxEventBytes = 256 << 10
    private static let maxOpsConnections = 128
    /// Further connections wait in the backlog. The process's limit of open files is a second bound.
    private static let maxAppConnections = 18_000
    private static let backlog = 4_096
    /// Further polls are answered at once. Each held poll costs about 20 KiB.
    private static let maxHeldPolls = 15_000
    /// Time between two requests of a connection, and from the first byte of a request to the end of its head.
    private static let idleTimeout = Duration.seconds(30)
    /// Time between the end of a request's head and the end of its body. Shorter than `idleTimeout`, which would cut a
    /// client in the middle of its body without an answer.
    private static let bodyTimeout = TimeAmount.seconds(25)
    /// How long a client may leave its answer unread.
    private static let writeTimeout = TimeAmount.seconds(30)

    private func service(
        _ routes: [Route], dialects: [ErrorDialect] = [], address: BindAddress,
        maxBodyBytes: Int, maxConnections: Int, limits: RateLimits? = nil, crossOrigin: CrossOrigin? = nil,
        beginsTraces: Bool = false,
        onListening: @escaping OnListening,
        onShutdown: @escaping @Sendable () -> Void = {}, drain: @escaping @Sendable () async -> Void = {}
    ) -> any Service {
        let router = Router(context: FrontContext.self, options: .autoGenerateHeadEndpoints)
        let recorder = RequestRecorder(metrics: metrics, logger: logger, crossOrigin: crossOrigin)
        router.add(
            middleware: FrontMiddleware(
                allowed: AllowedMethods(routes), recorder: recorder, dialects: dialects + features.flatMap(\.dialects),
                limits: limits,
                beginsTraces: beginsTraces))
        for route in routes { route.add(to: router) }
        var quiet = logger
        // Hummingbird logs each address and its own errors' text. The relay's own log lines cover both.
        quiet.logLevel = max(logger.logLevel, .warning)
        let cached = CachedRoutes(routes, recorder: recorder, limits: limits, beginsTraces: beginsTraces)
        let channel = FrontChannel(
            responder: FrontResponder(
                router: router.buildResponder(), cached: cached, folded: FoldedPaths(features.flatMap(\.foldedPaths)),
                logger: quiet),
            limits: ConnectionLimits(
                idleTime: Self.idleTimeout, bodyTime: Self.bodyTimeout,
                writeTime: Self.writeTimeout, bodyBytes: maxBodyBytes))
        let server = Server(
            childChannelSetup: channel,
            configuration: ServerConfiguration(
                address: address, serverName: nil, backlog: Self.backlog,
                availableConnectionsDelegate: MaximumAvailableConnections(maxConnections)),
            onServerRunning: { channel in
                if let address = channel.localAddress { await onListening(address) }
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quiet)
        return FrontService(server: server, onShutdown: onShutdown, drain: drain)
    }
}

/// Server of a front. Its held polls are answered when shutdown begins, since the server cannot end before.
struct FrontService: Service {
    let server: any Service
    let onShutdown: @Sendable () -> Void
    /// Waits for work that continues without its connection.
    let drain: @Sendable () async -> Void

    func run() async throws {
        do {
            try await withGracefulShutdownHandler {
                try await server.run()
            } onGracefulShutdown: {
                onShutdown()
            }
        } catch {
            await drain()
            throw error
        }
        await drain()
    }
}
