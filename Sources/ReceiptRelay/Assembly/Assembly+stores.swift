import AppStoreServer
import AppleStore
import AsyncHTTPClient
import OutboundHTTP
import Relay
import RelayCore

extension Assembly {
    /// The stores other than Apple's that this copy has credentials for.
    func externalStores(
        _ httpClient: HTTPClient, _ clock: DatabaseClock
    ) -> PerPublisher<[StorePlatform: any ExternalStore]> {
        let acknowledged = settings.acknowledged
        return settings.accounts.map { account in
            Dictionary(
                uniqueKeysWithValues: account.stores.map { platform, access in
                    let tools = StoreTools(
                        httpClient: httpClient, timeout: storeTimeout, now: { clock.nowOrHostTime },
                        acknowledges: acknowledged.contains(platform), logger: logger)
                    return (platform, access.store(tools))
                })
        }
    }

    /// Service that checks certificates for revocation; nil if the settings turn it off.
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
