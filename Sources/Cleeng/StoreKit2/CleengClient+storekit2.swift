import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import OutboundHTTP

/// What Cleeng is asked to do about a purchase by StoreKit 2.
public enum StoreKit2Request: Sendable {
    case registration
    /// To another customer than the one who has it; only of what still runs.
    case transfer

    fileprivate var path: String {
        switch self {
        case .registration: "/storekit2/purchases"
        case .transfer: "/storekit2/purchases/transfers"
        }
    }
}

extension CleengClient {
    /// Has a purchase registered, or transferred: `POST {storeKit2URL}/storekit2/purchases[/transfers]`. One at a time for each
    /// transaction: a second one while the first runs is answered 409.
    ///
    /// - Parameter name: a UUID under which Cleeng is to know what it does about it.
    /// - Returns: where Cleeng took it, with the name under which it really knows it.
    public func send(
        _ request: StoreKit2Request, _ purchase: StoreKit2Purchase, name: String
    ) async -> (answer: ForwardAnswer, synchronization: String?) {
        let start = ContinuousClock.now
        var call = HTTPClientRequest(url: configuration.storeKit2URL + request.path)
        call.method = .POST
        call.headers = headers()
        call.headers.add(name: "Content-Type", value: "application/json")
        call.headers.add(name: "Correlation-Id", value: name)
        call.body = .bytes(purchase.body())
        do {
            let reply = try await send(call, route: request.path, deadline: start + configuration.upstreamTimeout)
            let verdict = ForwardAnswer.Verdict(storeKit2: reply, scrubber: scrubber())
            let answer = ForwardAnswer(verdict: verdict, status: reply.status, latency: start.duration(to: .now))
            guard case .accepted = verdict else { return (answer, nil) }
            let given = JSONValue(reply.wholeBody)?["synchronizationId"]?.scalarText.flatMap(Self.name)
            return (answer, given ?? name)
        } catch {
            let verdict = ForwardAnswer.Verdict.tryAgain(error, retryAfter: nil)
            return (ForwardAnswer(verdict: verdict, status: nil, latency: start.duration(to: .now)), nil)
        }
    }

    /// Reads `GET {storeKit2URL}/storekit2/purchases/synchronizations/{id}`.
    public func synchronization(_ id: String) async -> SynchronizationAnswer {
        let start = ContinuousClock.now
        let route = "/storekit2/purchases/synchronizations"
        guard let id = Self.name(id) else { return SynchronizationAnswer(verdict: .unknown, latency: .zero) }
        var request = HTTPClientRequest(url: "\(configuration.storeKit2URL)\(route)/\(id)")
        request.headers = headers()
        do {
            let reply = try await send(request, route: route, deadline: start + configuration.upstreamTimeout)
            return SynchronizationAnswer(
                verdict: SynchronizationAnswer.Verdict(reply, scrubber: scrubber()), status: reply.status,
                latency: start.duration(to: .now))
        } catch {
            return SynchronizationAnswer(
                verdict: .tryAgain(error, retryAfter: nil), latency: start.duration(to: .now))
        }
    }

    /// What can stand in a path as it is.
    private static func name(_ text: String) -> String? {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isPlain && (1...100).contains(text.utf8.count) ? text : nil
    }
}
