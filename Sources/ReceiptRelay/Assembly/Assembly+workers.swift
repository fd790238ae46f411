import Formats
import GooglePlay
import Relay
import RelayCore
import ServiceLifecycle
import Telemetry

extension Assembly {
    /// The loops that forward purchases and read entitlements, one for each account, and the ledgers that they update.
    func pursuits(_ parts: SharedParts) -> (pursuits: PerPublisher<PursuitService>, ledgers: LedgerService) {
        let stores = StoreInquiry(stores: parts.stores, logger: logger)
        let ledgers = LedgerService(
            store: parts.store, upstreams: parts.accounts.map(\.upstream),
            appStore: parts.appStore.map {
                AppStoreInquiry(gate: $0, trust: parts.trust, scope: settings.apple.scope, logger: logger)
            },
            stores: stores,
            readInterval: settings.pollInterval, callTimeout: settings.upstreamTimeout,
            wakeup: parts.signals.subscriptions, logger: logger)
        return (pursuits(parts.accounts, parts.store, stores, registry), ledgers)
    }

    /// The services of a worker.
    func workers(
        _ parts: SharedParts, _ pursuits: PerPublisher<PursuitService>, _ ledgers: LedgerService
    ) -> [any Service] {
        let (store, signals) = (parts.store, parts.signals)
        let catalogue = CatalogueCheck(store: store, logger: logger)
        RelayMetrics.register(in: registry, catalogue: catalogue)
        var services: [any Service] = pursuits.all
        services.append(ledgers)
        services += storeQuestions(parts)
        services += [
            ConsumptionAnswers(
                store: store, gate: parts.appStore, callTimeout: settings.upstreamTimeout, wakeup: signals.consumption,
                logger: logger),
            GrantCheckService(store: store, logger: logger), catalogue,
            CleengEventService(
                store: store, accounts: pursuits, ledgers: ledgers, callTimeout: settings.upstreamTimeout,
                wakeup: signals.events, logger: logger),
        ]
        services += notifications(parts)
        return services + [
            deliveries(parts),
            CustomerUpdateService(
                store: store, listed: settings.webhooks.urls,
                wakeup: signals.customers, logger: logger, idleTick: DueWatch.fallback),
            DueWatch(store: store, logger: logger, signal: signals.signal),
        ]
    }

    /// Questions to the stores other than Apple's.
    private func storeQuestions(_ parts: SharedParts) -> [any Service] {
        let questions = StoreQuestions(
            store: parts.store, inquiry: StoreInquiry(stores: parts.stores, logger: logger),
            own: Array(parts.stores.own.keys), wakeup: parts.signals.questions,
            logger: logger)
        let clients = parts.stores.map { ($0[.google] as? GoogleStore)?.client }
        guard clients.all.contains(where: { $0 != nil }) else { return [questions] }
        let interval = settings.voidedSweep
        registry.registerGauge("relay_sweep_interval_seconds", help: "Between two sweeps of an app.") {
            interval.seconds
        }
        return [
            questions,
            VoidedSweep(
                store: parts.store, clients: clients, interval: interval,
                logger: logger),
        ]
    }

    /// The App Store's notifications: relayed to Cleeng, and asked for if Apple did not deliver them.
    private func notifications(_ parts: SharedParts) -> [any Service] {
        let relays = notificationRelays(parts.accounts.map(\.account), parts.store, parts.clients.common)
        guard let appStore = parts.appStore, let interval = settings.appStore?.historyInterval else { return relays }
        return relays + [
            MissedNotifications(
                store: parts.store, gate: appStore, policy: parts.notificationPolicy, scope: settings.apple.scope,
                isRelayed: isRelayed, interval: interval, logger: logger)
        ]
    }

    private func deliveries(_ parts: SharedParts) -> DeliveryService {
        let webhooks = DeliveryService(
            store: parts.store, client: settings.webhooks.client, credentials: settings.webhooks.credentials,
            settings: DeliverySettings(retries: settings.webhooks.retries, idleTick: DueWatch.fallback),
            wakeup: parts.signals.webhooks, logger: logger)
        registry.registerGauge("relay_webhooks_in_flight", help: "Messages that are being sent to endpoints.") {
            Double(webhooks.inFlight)
        }
        return webhooks
    }
}
