import AsyncHTTPClient
import Cleeng
import Foundation
import RelayCore
import RelayFront
import RelayStore
import RelayWorkers
import ServiceLifecycle
import Telemetry

/// What a process that runs workers has of one account at Cleeng.
struct CleengAccount: Sendable {
    let client: CleengClient
    let upstream: Upstream
    let pursuits: PursuitService
}

extension PerPublisher<Wakeup> {
    /// Whoever it is for: those who hear it in vain look once.
    func ring() {
        for bell in all { bell.ring() }
    }
}

extension Assembly {
    /// One account is one token, with breakers and places of its own: what is wrong with one holds up no other.
    func accounts(
        _ store: RelayStore, _ httpClient: HTTPClient, _ registry: PrometheusRegistry, _ bells: PerPublisher<Wakeup>,
        _ news: Wakeup, onGranted: @escaping @Sendable () -> Void
    ) -> PerPublisher<CleengAccount> {
        let accounts = settings.accounts.mapAccounts { publisher, account in
            let bell = bells[account: publisher]
            let client = CleengClient(account.cleeng, httpClient: httpClient, logger: logger)
            let upstream = Upstream(
                client: client, account: publisher, clock: store.clock,
                maxConcurrentCalls: account.cleeng.connectionsPerHost, news: news, work: bell, logger: logger)
            let pursuits = PursuitService(
                store: store, upstream: upstream, scope: settings.accounts.scope(ofAccount: publisher),
                settings: pursuitSettings(account.cleeng), wakeup: bell, logger: logger, onGranted: onGranted)
            UpstreamMetrics.register(in: registry, upstream: upstream)
            return CleengAccount(client: client, upstream: upstream, pursuits: pursuits)
        }
        let all = accounts.all.map(\.pursuits)
        registry.registerGauge("relay_pursuits_held", help: "Pursuits whose lease this process holds.") {
            Double(all.reduce(0) { $0 + $1.held })
        }
        return accounts
    }

    private func pursuitSettings(_ cleeng: CleengConfiguration) -> PursuitSettings {
        PursuitSettings(
            reads: ReadSchedule(interval: settings.pollInterval, reconcileFor: settings.reconcileFor),
            maxConcurrent: max(256, cleeng.connectionsPerHost),
            baselineTimeout: min(.seconds(3), cleeng.upstreamTimeout))
    }

    /// As many connections as all accounts together may use, so that calls that hang for one take none from the others.
    var cleengClientConfiguration: HTTPClient.Configuration {
        var configuration = settings.accounts.common.cleeng.httpClientConfiguration
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit *= settings.accounts.all.count
        return configuration
    }

    var isRelayed: PerPublisher<Bool> { settings.accounts.map { $0.notifications.url != nil } }

    /// One for each account whose notifications are passed on.
    func notificationRelays(
        _ store: RelayStore, _ httpClient: HTTPClient, _ bells: PerPublisher<Wakeup>
    ) -> [any Service] {
        let relays: PerPublisher<NotificationRelay?> = settings.accounts.mapAccounts { publisher, account in
            account.notifications.url.map { url in
                NotificationRelay(
                    store: store,
                    client: NotificationClient(
                        url: url, timeout: settings.upstreamTimeout, httpClient: httpClient, logger: logger,
                        now: { Int64(Date().timeIntervalSince1970) }),
                    scope: settings.accounts.scope(ofAccount: publisher),
                    lease: settings.upstreamTimeout + .seconds(10),
                    wakeup: bells[account: publisher], logger: logger)
            }
        }
        return relays.all.compactMap(\.self)
    }

    var eventSignatures: [(account: String?, signature: EventSignature)] {
        let signatures = settings.accounts.mapAccounts { publisher, account in
            account.eventSignature.map { (account: publisher, signature: $0) }
        }
        return signatures.all.compactMap(\.self)
    }
}
