public import AppleStore
public import Formats
public import HTTPServer
public import RelayCore

/// Addresses of the fronts, and their limits for clients.
public struct FrontConfiguration: Sendable {
    /// Address for apps; port 0 for any free one.
    public var host = "0.0.0.0"
    public var port = 8080
    /// Address for operators; never the same as for apps.
    public var opsHost = "127.0.0.1"
    public var opsPort = 9090
    /// Value of `Retry-After` and `pollAfterSeconds` for apps.
    public var pollInterval = Duration.seconds(5)
    public var maxBodyBytes = 4_194_304
    /// Bytes of bodies held at once, over all connections; requests above it get 503. A body costs about three times
    /// its size until it is committed. Never less than one body.
    public var maxBodiesBytes = 134_217_728
    /// Proxies whose `X-Forwarded-For` counts.
    public var trustedProxies: [AddressRange] = []
    /// Web origins that may call the app's routes.
    public var allowedOrigins = AllowedOrigins.none
    /// If set, apps must prove for which customer they act.
    public var customerTokens: CustomerTokenVerifier?
    public var receipts: ReceiptPolicy
    public var drivers = DriverPolicy.auto
    /// Says whose a customer number is, for each account at Cleeng.
    public var directories: PerPublisher<any CustomerDirectory>
    /// Whether Cleeng's Google Play connector has an address.
    public var googleConnector = PerPublisher(false)
    /// Verifies Apple's notifications that an operator replays.
    public var notifications: NotificationPolicy
    /// One source for each store whose notifications are accepted.
    public var notificationSources: [any NotificationSource] = []
    /// Confirms subscriptions to SNS topics for operators.
    public var topics: TopicConfirmer
    /// Nil: there is no key for the App Store Server API.
    public var appStoreAccess: AppStoreAccess?
    /// Rules for moving a subscription to another customer.
    public var transfers = PerPublisher(TransferRules())
    /// Whether notifications are forwarded to Cleeng.
    public var relaysNotifications: PerPublisher<Bool>
    /// Signing keys by account; `nil` is the shared account. Empty: Cleeng's events are refused.
    public var eventSignatures: [(account: PublisherID?, signature: EventSignature)] = []

    /// The stores that can be asked for a subscription.
    public var externalStores: PerPublisher<[StorePlatform: any ExternalStore]> = PerPublisher([:])

    /// Whether a request to the app front without a trace may begin one.
    public var beginsTraces = false

    /// Rate limits of one key and of one address at this copy's app front. Nil: no limit.
    public var keyLimit: RateLimit?
    public var addressLimit: RateLimit?
    /// Whether webhook endpoints must use https.
    public var requiresTLS = false

    public init(
        receipts: ReceiptPolicy, notifications: NotificationPolicy, topics: TopicConfirmer,
        directories: PerPublisher<any CustomerDirectory>, relaysNotifications: PerPublisher<Bool>
    ) {
        self.directories = directories
        self.receipts = receipts
        self.notifications = notifications
        self.topics = topics
        self.relaysNotifications = relaysNotifications
    }
}
