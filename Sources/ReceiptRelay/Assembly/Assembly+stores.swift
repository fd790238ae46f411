import AmazonAppStore
import AsyncHTTPClient
import Foundation
import GooglePlay
import OutboundHTTP
import RelayCore
import RelayStore
import RelayWorkers

extension Assembly {
    /// The stores beside Apple's that this copy has been given access to, and the client that their calls share.
    func externalStores(
        _ clock: DatabaseClock
    ) -> (PerPublisher<[StorePlatform: any ExternalStore]>, HTTPClient) {
        let httpClient = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .outbound())
        // An app waits for what is asked when its purchase comes.
        let timeout = min(settings.upstreamTimeout, .seconds(5))
        let now: @Sendable () -> Timestamp = {
            clock.now ?? Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
        }
        let stores = settings.accounts.map { account in
            var stores: [StorePlatform: any ExternalStore] = [:]
            if let google = account.google {
                stores[.google] = GoogleStore(
                    client: GooglePlayClient(
                        url: google.apiURL, tokenURL: google.tokenURL, account: google.account, timeout: timeout,
                        httpClient: httpClient, logger: logger), now: now)
            }
            if let amazon = account.amazon {
                stores[.amazon] = AmazonStore(
                    client: AmazonReceiptClient(
                        url: amazon.url, secret: amazon.secret, timeout: timeout, httpClient: httpClient, logger: logger
                    ),
                    now: now)
            }
            return stores
        }
        return (stores, httpClient)
    }
}
