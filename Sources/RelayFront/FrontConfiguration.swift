public import AppleStore
public import ConsolePages
public import RelayCore

/// How the fronts listen, and what they let a client cost.
public struct FrontConfiguration: Sendable {
    /// Where apps reach the service; port 0 for any free one.
    public var host: String
    public var port: Int
    /// Where ops does; never the same.
    public var opsHost: String
    public var opsPort: Int
    /// Told to apps as `Retry-After` and `pollAfterSeconds`.
    public var pollInterval: Duration
    public var maxBodyBytes: Int
    /// Bytes of bodies held at once, over all connections; what comes above it is answered 503. A body costs about three times
    /// its size until it is committed.
    public var maxBodiesBytes: Int
    /// Whose `X-Forwarded-For` counts.
    public var trustedProxies: [AddressRange]
    /// Polls held at once; one more is answered at once. Each costs about 20 KiB.
    public var maxHeldPolls: Int
    /// Connections of the app front; further ones wait in the backlog. Bounded by the process's limit of open files besides.
    public var maxConnections: Int
    /// Between two requests of a connection, and from the first byte of a request to the end of its head.
    public var idleTimeout: Duration
    /// From the end of a request's head to the end of its body. Shorter than `idleTimeout`, which would cut a client that stops
    /// in the middle of its body before it is answered.
    public var bodyTimeout: Duration
    /// How long a client may leave its answer unread.
    public var writeTimeout: Duration
    public var backlog: Int
    /// Where set, apps must prove whom they speak for.
    public var customerTokens: CustomerTokenVerifier?
    public var receipts: ReceiptPolicy
    public var drivers: DriverPolicy
    public var notifications: NotificationPolicy
    /// Whether notifications are passed on to Cleeng.
    public var relaysNotifications: PerPublisher<Bool>
    /// How long after its end a subscription that will renew is waited for.
    public var renewalLeeway: Duration
    /// By the account that signs so: the publisher's whose own it is, or nil for the one that publishers share. Empty: Cleeng's
    /// events are not taken.
    public var eventSignatures: [(account: PublisherID?, signature: EventSignature)]
    /// How receipts are read for publishers' billing. Nil: there is no billing side.
    public var billingReceipts: BillingReceipts?

    /// The stores that can be asked for a subscription.
    public var externalStores: PerPublisher<[StorePlatform: any ExternalStore]> = PerPublisher([:])

    /// Whether a request to the app front without a trace may begin one.
    public var beginsTraces = false

    /// How often one key, and one address, may ask the app front of this copy. Nil: as often as they like.
    public var keyLimit: RateLimit?
    public var addressLimit: RateLimit?
    /// Whether endpoints of webhooks must be https.
    public var requiresTLS = false
    /// Nil: there is no console.
    public var console: ConsolePages?
    /// The hosts of the database, for whoever looks at the console while it is away. Empty where they are not known.
    public var databaseHosts = ""

    public init(
        host: String = "0.0.0.0", port: Int = 8080, opsHost: String = "127.0.0.1", opsPort: Int = 9090,
        pollInterval: Duration = .seconds(5), maxBodyBytes: Int = 4_194_304, maxBodiesBytes: Int = 134_217_728,
        trustedProxies: [AddressRange] = [],
        maxHeldPolls: Int = 15_000, maxConnections: Int = 18_000, idleTimeout: Duration = .seconds(30),
        bodyTimeout: Duration = .seconds(25), writeTimeout: Duration = .seconds(30), backlog: Int = 4_096,
        customerTokens: CustomerTokenVerifier? = nil, receipts: ReceiptPolicy, drivers: DriverPolicy = .auto,
        notifications: NotificationPolicy, relaysNotifications: PerPublisher<Bool>, renewalLeeway: Duration,
        eventSignatures: [(account: PublisherID?, signature: EventSignature)] = []
    ) {
        self.host = host
        self.port = port
        self.opsHost = opsHost
        self.opsPort = opsPort
        self.pollInterval = pollInterval
        self.maxBodyBytes = maxBodyBytes
        self.maxBodiesBytes = max(maxBodiesBytes, maxBodyBytes)
        self.trustedProxies = trustedProxies
        self.maxHeldPolls = maxHeldPolls
        self.maxConnections = maxConnections
        self.idleTimeout = idleTimeout
        self.bodyTimeout = bodyTimeout
        self.writeTimeout = writeTimeout
        self.backlog = backlog
        self.customerTokens = customerTokens
        self.receipts = receipts
        self.drivers = drivers
        self.notifications = notifications
        self.relaysNotifications = relaysNotifications
        self.renewalLeeway = renewalLeeway
        self.eventSignatures = eventSignatures
    }
}
