import Formats
import NIOCore
import NIOHTTP1
import OutboundHTTP
public import RelayCore

extension CleengClient {
    /// Registers or transfers a purchase: `POST …/purchases[/transfers]` of its connector. Cleeng processes one request
    /// at a time for each purchase and answers a second one with 409. The Google Play connector also answers 409 for a
    /// purchase that was registered before.
    ///
    /// - Parameters:
    ///   - transfers: whether to move the purchase from the customer who has it. Cleeng moves only running
    ///     subscriptions.
    ///   - name: UUID by which Cleeng should name the synchronization that the request begins.
    /// - Returns: the answer. If Cleeng accepted the request, it has the name that Cleeng uses for the synchronization.
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
            // The StoreKit 2 connector uses the relay's name unless its answer has another one.
            SynchronizationStart(reply).name ?? (purchase.connector == .storekit2 ? name : nil)
        }
    }

    /// Reads `GET …/purchases/synchronizations/{id}` of a connector.
    ///
    /// - Parameters:
    ///   - offer: offer that the app requested.
    ///   - observedAt: time at which the read is sent.
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
