import AsyncHTTPClient
import Cleeng
import OutboundHTTP
import RelayCore
import Webhooks

/// The HTTP clients of a process. ``shutDown()`` must end them, also after an error: an HTTP client that is released
/// without shutdown crashes the process.
struct OutboundClients: Sendable {
    /// Purchases and entitlements at Cleeng, for all accounts.
    let cleeng: KeptConnections
    /// Notifications to Cleeng, the App Store Server API, key sets and traces.
    let common: HTTPClient
    /// The other stores, and Apple's answers about certificates.
    let stores: HTTPClient
    /// Addresses that are not the operator's own, which must not lead into the private network.
    let guarded: GuardedClient

    init(_ settings: ServeSettings) {
        let cleeng = settings.accounts.common.cleeng
        let accounts = settings.accounts.all.count
        self.cleeng = cleeng.connections(ofAccounts: accounts)
        common = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: .outbound(
                connectTimeout: cleeng.upstreamTimeout, connectionsPerHost: cleeng.connectionsPerHost * accounts))
        stores = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .outbound())
        guarded = GuardedClient(policy: settings.webhooks.policy)
    }

    func shutDown() async {
        try? await common.shutdown()
        try? await stores.shutdown()
        await guarded.shutDown()
        cleeng.shutDown()
    }
}
