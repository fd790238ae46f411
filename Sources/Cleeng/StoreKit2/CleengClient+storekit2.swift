import AsyncHTTPClient
import Formats
import NIOCore
import NIOHTTP1
import OutboundHTTP
public import RelayCore

extension CleengClient {
    /// Has a purchase registered, or transferred: `POST {storeKit2URL}/storekit2/purchases[/transfers]`. One at a time for each
    /// transaction: a second one while the first runs is answered 409.
    ///
    /// - Parameters:
    ///   - transfers: whether from another customer who has it; only of what still runs.
    ///   - name: a UUID under which Cleeng is to know what it does about it.
    /// - Returns: where Cleeng took it, with the name under which it really knows it.
    public func send(
        _ purchase: StoreKit2Purchase, transfers: Bool, name: String
    ) async -> ForwardAnswer {
        let start = ContinuousClock.now
        var headers = headers()
        headers.add(name: "Content-Type", value: "application/json")
        headers.add(name: "Correlation-Id", value: name)
        let route = transfers ? "/storekit2/purchases/transfers" : "/storekit2/purchases"
        let request = OutboundRequest(
            url: configuration.storeKit2URL + route, method: .POST, headers: headers, body: purchase.body())
        return await forward(request, route: route, since: start) {
            ForwardAnswer.Verdict(storeKit2: $0, scrubber: scrubber())
        } synchronization: { reply in
            JSONValue(reply.wholeBody)?["synchronizationId"]?.scalarText.flatMap(Self.name) ?? name
        }
    }

    /// Reads `GET {storeKit2URL}/storekit2/purchases/synchronizations/{id}`.
    ///
    /// - Parameters:
    ///   - offer: what was asked for.
    ///   - observedAt: when the read is sent.
    public func synchronization(
        _ id: String, offer: OfferID, observedAt: Timestamp
    ) async -> SynchronizationAnswer {
        let start = ContinuousClock.now
        let route = "/storekit2/purchases/synchronizations"
        guard let id = Self.name(id) else { return SynchronizationAnswer(.unknown, observedAt: observedAt) }
        let request = OutboundRequest(url: "\(configuration.storeKit2URL)\(route)/\(id)", headers: headers())
        do {
            let reply = try await send(request, route: route, deadline: start + configuration.upstreamTimeout)
            return SynchronizationAnswer(
                SynchronizationAnswer.Verdict(reply, of: offer, scrubber: scrubber()), status: reply.status,
                latency: start.duration(to: .now), observedAt: observedAt)
        } catch {
            return SynchronizationAnswer(.tryAgain(error), latency: start.duration(to: .now), observedAt: observedAt)
        }
    }

    /// What can stand in a path as it is.
    private static func name(_ text: String) -> String? {
        text.wholeMatch(of: /[0-9A-Za-z_-]{1,100}/) == nil ? nil : text
    }
}

/// One purchase as `POST /storekit2/purchases` and its transfers take it (Cleeng's reference "Register Apple StoreKit 2
/// purchase").
public struct StoreKit2Purchase: Sendable, Equatable {
    /// The App Store's.
    public var transactionId: TransactionID
    /// The customer's number at Cleeng; of a transfer the new owner's.
    public var cleengCustomerId: Int64
    /// The customer's address, not ours. Cleeng takes IPv4 alone: any other is left out.
    public var ipAddress: String?

    public init(transactionId: TransactionID, cleengCustomerId: Int64, ipAddress: String? = nil) {
        self.transactionId = transactionId
        self.cleengCustomerId = cleengCustomerId
        self.ipAddress = ipAddress
    }

    /// The request's body: Cleeng's fields and no others.
    func body() -> ByteBuffer {
        JSONWriter.body { writer in
            writer.member("transactionId", transactionId.text)
            writer.member("cleengCustomerId", Int(cleengCustomerId))
            writer.member("ipAddress", ipAddress?.contains(":") == true ? nil : ipAddress)
        }
    }
}
