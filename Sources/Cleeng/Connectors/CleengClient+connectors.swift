import Formats
import NIOCore
import NIOHTTP1
import OutboundHTTP
public import RelayCore

extension CleengClient {
    /// Has a purchase registered, or transferred: `POST …/purchases[/transfers]` of its connector. Cleeng works on one at a time for each
    /// purchase: a second request meanwhile is answered 409, by the Google Play connector also later.
    ///
    /// - Parameters:
    ///   - transfers: whether from another customer who has it; only of what still runs.
    ///   - name: a UUID under which Cleeng is to know what it does about it.
    /// - Returns: where Cleeng took it, with the name under which it really knows it.
    public func send(
        _ purchase: ConnectorPurchase, transfers: Bool, name: String
    ) async -> ForwardAnswer {
        let start = ContinuousClock.now
        guard let routes = ConnectorRoutes(purchase.connector, configuration) else {
            return ForwardAnswer(.misconfigured(message: Self.withoutAddress))
        }
        var headers = headers()
        headers.add(name: "Content-Type", value: "application/json")
        headers.add(name: "Correlation-Id", value: name)
        let route = transfers ? routes.transfers : routes.purchases
        let request = OutboundRequest(url: routes.base + route, method: .POST, headers: headers, body: purchase.body())
        return await forward(request, route: route, since: start) {
            ForwardAnswer.Verdict($0, of: purchase.connector, name: name, scrubber: scrubber())
        } synchronization: { reply in
            // By StoreKit 2 Cleeng takes our name where it says none.
            SynchronizationStart(reply).name ?? (purchase.connector == .storekit2 ? name : nil)
        }
    }

    /// Reads `GET …/purchases/synchronizations/{id}` of a connector.
    ///
    /// - Parameters:
    ///   - offer: what was asked for.
    ///   - observedAt: when the read is sent.
    public func synchronization(
        _ id: String, of connector: Connector, offer: OfferID, observedAt: Timestamp
    ) async -> SynchronizationAnswer {
        let start = ContinuousClock.now
        guard let routes = ConnectorRoutes(connector, configuration) else {
            return SynchronizationAnswer(.misconfigured(message: Self.withoutAddress), observedAt: observedAt)
        }
        guard let id = SynchronizationStart.name(id) else {
            return SynchronizationAnswer(.unknown, observedAt: observedAt)
        }
        let route = routes.synchronizations
        let request = OutboundRequest(url: "\(routes.base)\(route)/\(id)", headers: headers())
        do {
            let reply = try await send(request, route: route, deadline: start + configuration.upstreamTimeout)
            return SynchronizationAnswer(
                SynchronizationAnswer.Verdict(reply, of: connector, offer: offer, scrubber: scrubber()),
                status: reply.status, latency: start.duration(to: .now), observedAt: observedAt)
        } catch {
            return SynchronizationAnswer(.tryAgain(error), latency: start.duration(to: .now), observedAt: observedAt)
        }
    }

    private static let withoutAddress = "the Google Play connector has no address: set RELAY_CLEENG_GOOGLE_URL"
}
