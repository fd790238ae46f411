public import AppleStore
public import ConsolePages
public import Operations
public import RelayCore

/// How the fronts listen, and what they let a client cost.
public struct FrontConfiguration: Sendable {
    /// Where apps reach the service; port 0 for any free one.
    public var host = "0.0.0.0"
    public var port = 8080
    /// Where ops does; never the same.
    public var opsHost = "127.0.0.1"
    public var opsPort = 9090
    /// Sent to apps as `Retry-After` and `pollAfterSeconds`.
    public var pollInterval = Duration.seconds(5)
    public var maxBodyBytes = 4_194_304
    /// Bytes of bodies held at once, over all connections; what comes above it is answered 503. A body costs about three times
    /// its size until it is committed. Never less than one body.
    public var maxBodiesBytes = 134_217_728
    /// Proxies whose `X-Forwarded-For` counts.
    public var trustedProxies: [AddressRange] = []
    /// Which web pages may call the app's routes.
    public var allowedOrigins = AllowedOrigins.none
    /// Where set, apps must prove whom they speak for.
    public var customerTokens: CustomerTokenVerifier?
    public var receipts: ReceiptPolicy
    public var drivers = DriverPolicy.auto
    /// Whether Cleeng's Google Play connector has an address.
    public var googleConnector = PerPublisher(false)
    public var notifications: NotificationPolicy
    /// Nil: Google's are not taken.
    public var googlePush: GooglePushPolicy?
    /// Nil: Amazon's are not taken.
    public var amazonPush: AmazonPushPolicy?
    /// Nil: Roku's are not taken.
    public var rokuPush: RokuPushPolicy?
    /// Nil: no key was given for the App Store Server API.
    public var appStoreAccess: AppStoreAccess?
    /// Rules for moving a subscription to another customer.
    public var transfers = PerPublisher(TransferRules())
    /// Whether notifications are passed on to Cleeng.
    public var relaysNotifications: PerPublisher<Bool>
    /// How long after its end a subscription that will renew is waited for.
    public var renewalLeeway: Duration
    /// Signing keys by account; `nil` is the shared account. Empty: Cleeng's events are refused.
    public var eventSignatures: [(account: PublisherID?, signature: EventSignature)] = []

    /// The stores that can be asked for a subscription.
    public var externalStores: PerPublisher<[StorePlatform: any ExternalStore]> = PerPublisher([:])

    /// Whether a request to the app front without a trace may begin one.
    public var beginsTraces = false

    /// How often one key, and one address, may ask the app front of this copy. Nil: as often as they like.
    public var keyLimit: RateLimit?
    public var addressLimit: RateLimit?
    /// Whether endpoints of webhooks must be https.
    public var requiresTLS = false
    public var console: ConsolePages
    /// The hosts of the database, for the console's page while it is away. Empty if unknown.
    public var databaseHosts = ""

    public init(
        receipts: ReceiptPolicy, notifications: NotificationPolicy, relaysNotifications: PerPublisher<Bool>,
        renewalLeeway: Duration, console: ConsolePages
    ) {
        self.receipts = receipts
        self.notifications = notifications
        self.relaysNotifications = relaysNotifications
        self.renewalLeeway = renewalLeeway
        self.console = console
    }
}
