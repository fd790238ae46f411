import AsyncHTTPClient
import Formats
import NIOCore
import NIOHTTP1
import OutboundHTTP
public import RelayCore

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
    ) async -> (answer: PaymentReply, synchronization: String?) {
        let start = ContinuousClock.now
        var call = HTTPClientRequest(url: configuration.storeKit2URL + request.path)
        call.method = .POST
        call.headers = headers()
        call.headers.add(name: "Content-Type", value: "application/json")
        call.headers.add(name: "Correlation-Id", value: name)
        call.body = .bytes(purchase.body())
        do {
            let reply = try await send(call, route: request.path, deadline: start + configuration.upstreamTimeout)
            let verdict = PaymentReply.Verdict(storeKit2: reply, scrubber: scrubber())
            let answer = PaymentReply(verdict: verdict, status: reply.status, latency: start.duration(to: .now))
            guard case .accepted = verdict else { return (answer, nil) }
            let given = JSONValue(reply.wholeBody)?["synchronizationId"]?.scalarText.flatMap(Self.name)
            return (answer, given ?? name)
        } catch {
            let verdict = PaymentReply.Verdict.tryAgain(error, retryAfter: nil)
            return (PaymentReply(verdict: verdict, status: nil, latency: start.duration(to: .now)), nil)
        }
    }

    /// Reads `GET {storeKit2URL}/storekit2/purchases/synchronizations/{id}`.
    public func synchronization(_ id: String) async -> SynchronizationReply {
        let start = ContinuousClock.now
        let route = "/storekit2/purchases/synchronizations"
        guard let id = Self.name(id) else { return SynchronizationReply(verdict: .unknown, latency: .zero) }
        var request = HTTPClientRequest(url: "\(configuration.storeKit2URL)\(route)/\(id)")
        request.headers = headers()
        do {
            let reply = try await send(request, route: route, deadline: start + configuration.upstreamTimeout)
            return SynchronizationReply(
                verdict: SynchronizationReply.Verdict(reply, scrubber: scrubber()), status: reply.status,
                latency: start.duration(to: .now))
        } catch {
            return SynchronizationReply(
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

/// How far Cleeng is with a purchase that it took by StoreKit 2.
public struct SynchronizationReply: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        /// `processing`, or `retrying` after an error, perhaps for long.
        case running(String)
        /// `accessGranted` is nil where it was not said; `result` is one of a list that is not public as a whole.
        case finalized(accessGranted: Bool?, offerID: OfferID?, result: String?)
        case unknown
        case misconfigured(message: String?)
        case tryAgain(CleengTrouble, retryAfter: Duration?)
    }

    public var verdict: Verdict
    /// Nil where no answer came.
    public var status: Int?
    public var latency: Duration
}
