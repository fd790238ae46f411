public import AppStoreServer
public import AppleStore
public import RelayCore

/// The App Store as operators' acts use it.
public struct AppStoreAccess: Sendable {
    let client: AppStoreServerClient
    let policy: NotificationPolicy
    let trust: ChainOfTrust
    let scope: StoreScope

    /// - Parameter policy: reads the payload that the App Store reports as sent.
    public init(
        client: AppStoreServerClient, policy: NotificationPolicy, trust: ChainOfTrust, scope: StoreScope
    ) {
        self.client = client
        self.policy = policy
        self.trust = trust
        self.scope = scope
    }

    /// The app and the environment for a query to the App Store.
    ///
    /// - Parameter app: nil: the only configured app.
    /// - Throws: ``ActRefusal/cannotAsk(_:)``.
    func app(
        _ app: BundleID?, _ environment: StoreEnvironment, for scope: OpsScope
    ) throws -> (BundleID, AppStoreServerClient.Environment) {
        guard let environment = AppStoreServerClient.Environment(rawValue: environment.text) else {
            throw ActRefusal.cannotAsk("the App Store has the environments Production and Sandbox")
        }
        guard self.scope.environments.contains(environment == .production ? .production : .sandbox) else {
            throw ActRefusal.cannotAsk("RELAY_APPLE_ENVIRONMENTS leaves \(environment.rawValue) out")
        }
        let known = self.scope.bundleIds.sorted()
        if let app {
            guard known.contains(app) else {
                throw ActRefusal.cannotAsk("\(app) is none of RELAY_APPLE_BUNDLE_IDS")
            }
            return (app, environment)
        }
        guard known.count == 1 else {
            // An operator of one publisher must not see the apps of others.
            let names = scope.isAll ? ": " + known.map(\.text).joined(separator: ", ") : ""
            throw ActRefusal.cannotAsk("name the app by its bundle id\(names)")
        }
        return (known[0], environment)
    }

    static func required(_ access: AppStoreAccess?) throws -> AppStoreAccess {
        guard let access else {
            throw ActRefusal.cannotAsk("there is no key for the App Store Server API: set RELAY_APPLE_API_KEY")
        }
        return access
    }
}

/// Result of a test notification.
public struct TestedNotification: Sendable, Equatable {
    public struct Attempt: Sendable, Equatable {
        public var at: Timestamp
        /// `SUCCESS`, or another of Apple's result codes.
        public var result: String
    }

    public enum Outcome: String, Sendable {
        /// The notification arrived here.
        case received
        /// Apple has delivered the notification, but it did not arrive here.
        case elsewhere
        /// Apple could not deliver the notification.
        case failed
        /// Apple reports no attempt yet.
        case pending
    }

    public var environment: StoreEnvironment
    public var bundleID: BundleID
    public var outcome: Outcome
    public var uuid: String?
    public var attempts: [Attempt] = []
    /// Why this relay would refuse the notification; nil if it would not, or if that is unknown.
    public var refusal: String?

    /// One sentence.
    public var words: String {
        let last = attempts.last?.result
        switch outcome {
        case .received: return "Apple has delivered it, and it came in here"
        case .elsewhere:
            return "Apple has delivered it, and it did not come in here: the URL in App Store Connect leads elsewhere"
        case .failed:
            return "Apple could not deliver it: \(last ?? "?")\(Self.advice(last))\(refusal.map { "; \($0)" } ?? "")"
        case .pending: return "Apple has not tried to deliver it yet: it may still come"
        }
    }

    private static func advice(_ result: String?) -> String {
        switch result {
        case "TLS_ISSUE": " (the certificate of the URL's host, or its chain, is not good)"
        case "NO_RESPONSE", "TIMED_OUT", "SOCKET_ISSUE":
            " (the URL's host does not answer: look at its name and the firewall)"
        case "UNSUCCESSFUL_HTTP_RESPONSE_CODE": " (what is at the URL answers, and not with 2xx)"
        case "CIRCULAR_REDIRECT": " (the URL redirects to itself)"
        default: ""
        }
    }
}

extension LongAct<TestedNotification> {
    /// Makes the App Store send a notification of type TEST. Checks for about 20 seconds whether it arrived.
    ///
    /// - Parameter app: nil: the only configured app.
    public static func testNotification(
        of app: BundleID?, in environment: StoreEnvironment, _ access: AppStoreAccess?
    ) -> Self {
        LongAct(.notificationTested) { work in
            let access = try AppStoreAccess.required(access)
            let (app, server) = try access.app(app, environment, for: work.actor.scope)
            return try await work.recorded("\(environment)/\(app)", of: work.actor.scope.publisher) {
                let end = ContinuousClock.now + .seconds(20)
                let token: String
                switch await access.client.requestTestNotification(in: server, bundleID: app) {
                case .value(let value): token = value
                case .unknown: throw ActRefusal.cannotAsk("the App Store does not know the app \(app)")
                case .misconfigured(let why): throw ActRefusal.cannotAsk(why)
                case .tryAgain(let why, _): throw ActRefusal.storeAway(why)
                }
                var tested = TestedNotification(environment: environment, bundleID: app, outcome: .pending)
                repeat {
                    try await Task.sleep(for: .seconds(1))
                    let answer = await access.client.testNotification(token, in: server, bundleID: app)
                    switch answer {
                    case .value(let status) where !status.sendAttempts.isEmpty:
                        try await access.judge(status, &tested, work.store)
                    // Apple may need a moment until it reports the notification.
                    case .value, .unknown: break
                    case .misconfigured(let why): throw ActRefusal.cannotAsk(why)
                    case .tryAgain(let why, _) where ContinuousClock.now >= end: throw ActRefusal.storeAway(why)
                    case .tryAgain: break
                    }
                } while tested.outcome == .pending && ContinuousClock.now < end
                return (tested, tested.words)
            }
        }
    }
}

extension AppStoreAccess {
    fileprivate func judge(
        _ status: TestNotificationStatus, _ tested: inout TestedNotification, _ store: RelayStore
    ) async throws {
        tested.attempts = status.sendAttempts.map {
            .init(
                at: Timestamp(microseconds: min(max($0.attemptDate, 0), 253_402_300_799_999) * 1_000),
                result: $0.sendAttemptResult)
        }
        let isDelivered = status.sendAttempts.contains { $0.sendAttemptResult == "SUCCESS" }
        do {
            let notification = try await policy.judge(.signed(try SignedNotification(status.signedPayload)))
            tested.uuid = notification.uuid
            let isHere = try await store.notifications.isKnown(notification)
            tested.outcome = isHere ? .received : isDelivered ? .elsewhere : .failed
        } catch let refusal as NotGenuine {
            tested.outcome = isDelivered ? .elsewhere : .failed
            tested.refusal = "this relay refuses it: \(refusal.code.rawValue): \(refusal.detail)"
        } catch is ReceiptReadError {
            tested.outcome = isDelivered ? .elsewhere : .failed
            tested.refusal = "what Apple says it has sent is not readable"
        }
    }
}
