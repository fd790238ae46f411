import AsyncHTTPClient
import Cleeng
import OutboundHTTP
import Relay
import RelayCore
import ServiceLifecycle
import Telemetry

/// One configured account with its workers' wakeups. Each wakeup has one waiter.
struct Account: Sendable {
    let settings: AccountSettings
    let work = Wakeup()
    let notifications = Wakeup()
}

/// One account at Cleeng with its client and its limits.
struct CleengAccount: Sendable {
    let account: Account
    let client: CleengClient
    let upstream: Upstream
}

extension Assembly {
    /// One upstream for each account. Each has its own token, breakers and limit of calls, so that a fault of one
    /// account does not block others.
    func upstreams(
        _ accounts: PerPublisher<Account>, _ store: RelayStore, _ connections: KeptConnections,
        _ registry: PrometheusRegistry, _ news: Wakeup
    ) -> PerPublisher<CleengAccount> {
        accounts.mapAccounts { publisher, account in
            let cleeng = account.settings.cleeng
            let client = CleengClient(cleeng, connections: connections, logger: logger)
            let upstream = Upstream(
                client: client, account: publisher, clock: store.memory.clock,
                maxConcurrentCalls: cleeng.connectionsPerHost, news: news, work: account.work, logger: logger)
            UpstreamMetrics.register(in: registry, upstream: upstream)
            return CleengAccount(account: account, client: client, upstream: upstream)
        }
    }

    func pursuits(
        _ accounts: PerPublisher<CleengAccount>, _ store: RelayStore, _ stores: StoreInquiry,
        _ registry: PrometheusRegistry
    ) -> PerPublisher<PursuitService> {
        let pursuits = accounts.mapAccounts { publisher, cleeng in
            PursuitService(
                store: store, upstream: cleeng.upstream, stores: stores, scope: accounts.scope(ofAccount: publisher),
                settings: pursuitSettings(cleeng.account.settings.cleeng), wakeup: cleeng.account.work, logger: logger)
        }
        let all = pursuits.all
        registry.registerGauge("relay_pursuits_held", help: "Pursuits whose lease this process holds.") {
            Double(all.reduce(0) { $0 + $1.held })
        }
        return pursuits
    }

    private func pursuitSettings(_ cleeng: CleengConfiguration) -> PursuitSettings {
        PursuitSettings(
            reads: ReadSchedule(interval: settings.pollInterval, reconcileFor: settings.reconcileFor),
            maxConcurrent: max(256, cleeng.connectionsPerHost), idleTick: DueWatch.fallback,
            baselineTimeout: min(.seconds(3), cleeng.upstreamTimeout),
            forcesStoreKit2: settings.drivers == .storekit2)
    }

    var isRelayed: PerPublisher<Bool> { settings.accounts.map { $0.notifications.url != nil } }

    /// One relay for each account that forwards notifications.
    func notificationRelays(
        _ accounts: PerPublisher<Account>, _ store: RelayStore, _ httpClient: HTTPClient
    ) -> [any Service] {
        let relays: PerPublisher<NotificationRelay?> = accounts.mapAccounts { publisher, account in
            account.settings.notifications.url.map { url in
                NotificationRelay(
                    store: store,
                    client: NotificationClient(
                        url: url, timeout: settings.upstreamTimeout, httpClient: httpClient, logger: logger),
                    scope: accounts.scope(ofAccount: publisher),
                    lease: settings.upstreamTimeout + .seconds(10),
                    wakeup: account.notifications, logger: logger, idleTick: DueWatch.fallback)
            }
        }
        return relays.all.compactMap(\.self)
    }

    var eventSignatures: [(account: PublisherID?, signature: EventSignature)] {
        let signatures = settings.accounts.mapAccounts { publisher, account in
            account.eventSignature.map { (account: publisher, signature: $0) }
        }
        return signatures.all.compactMap(\.self)
    }
}
