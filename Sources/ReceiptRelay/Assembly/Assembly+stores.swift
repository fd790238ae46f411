import AmazonAppStore
import AppStoreServer
import AppleStore
import AsyncHTTPClient
import GooglePlay
import OutboundHTTP
import RelayCore
import RelayStore
import RelayWorkers
import RokuPay

extension Assembly {
    /// The stores other than Apple's that this copy has credentials for.
    func externalStores(
        _ google: PerPublisher<GooglePlayClient?>, _ httpClient: HTTPClient, _ clock: DatabaseClock
    ) -> PerPublisher<[StorePlatform: any ExternalStore]> {
        let now: @Sendable () -> Timestamp = { clock.nowOrHostTime }
        return settings.accounts.mapAccounts { publisher, account in
            var stores: [StorePlatform: any ExternalStore] = [:]
            if let client = google[account: publisher] ?? nil {
                stores[.google] = GoogleStore(
                    client: client, acknowledges: settings.googleAcknowledge == .onGrant, now: now)
            }
            if let amazon = account.amazon {
                stores[.amazon] = AmazonStore(
                    client: AmazonReceiptClient(
                        url: amazon.url, secret: amazon.secret, timeout: storeTimeout, httpClient: httpClient,
                        logger: logger
                    ),
                    now: now)
            }
            if let roku = account.roku {
                stores[.roku] = RokuStore(
                    client: RokuTransactionClient(
                        url: roku.url, key: roku.key, timeout: storeTimeout, httpClient: httpClient, logger: logger),
                    now: now)
            }
            return stores
        }
    }

    /// One client for each account with access to Google Play.
    func googleClients(_ httpClient: HTTPClient) -> PerPublisher<GooglePlayClient?> {
        settings.accounts.map { account in
            account.google.map {
                GooglePlayClient(
                    url: $0.apiURL, tokenURL: $0.tokenURL, account: $0.account, timeout: storeTimeout,
                    httpClient: httpClient, logger: logger)
            }
        }
    }

    /// Nil if the settings turn off checks of certificates.
    func revocationWatch(_ trust: ChainOfTrust, _ httpClient: HTTPClient) -> RevocationWatch? {
        settings.revocation.map { revocation in
            let client = OCSPClient(url: revocation.url, httpClient: httpClient)
            return RevocationWatch(
                trust: trust, check: RevocationCheck { try await client.ask($0, path: $1) },
                includesAddedRoots: revocation.includesAddedRoots, interval: revocation.interval, logger: logger)
        }
    }

    /// Timeout of a call to a store while an app waits for the answer to its purchase.
    private var storeTimeout: Duration { min(settings.upstreamTimeout, .seconds(5)) }
}
