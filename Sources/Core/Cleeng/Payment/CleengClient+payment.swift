import NIOCore
import NIOHTTP1
import OutboundHTTP
public import RelayCore

extension CleengClient {
    /// Forwards one purchase: `POST {paymentURL}/apple/payment`, or the route of another store.
    ///
    /// Sending a purchase again with the same email does no harm (Cleeng: "no action is taken"). Sending it with
    /// another email moves the subscription to that customer.
    public func pay(_ payment: Payment) async -> ForwardAnswer {
        let start = ContinuousClock.now
        var headers = headers()
        headers.add(name: "Content-Type", value: "application/json")
        let request = OutboundRequest(
            url: configuration.paymentURL + payment.route, method: .POST, headers: headers, body: payment.body())
        let scrubber = scrubber(for: payment.customerEmail)
        return await forward(request, route: payment.route, since: start) {
            ForwardAnswer.Verdict($0, scrubber: scrubber)
        }
    }

    /// - Parameter synchronization: reads the synchronization's name from the answer to an accepted request.
    func forward(
        _ request: OutboundRequest, route: String, since start: ContinuousClock.Instant,
        sort: (HTTPReply) -> ForwardAnswer.Verdict, synchronization: (HTTPReply) -> String? = { _ in nil }
    ) async -> ForwardAnswer {
        do {
            let reply = try await send(request, route: route, deadline: start + configuration.upstreamTimeout)
            let verdict = sort(reply)
            return ForwardAnswer(
                verdict, status: reply.status, latency: start.duration(to: .now),
                synchronization: [.accepted, .duplicate].contains(verdict) ? synchronization(reply) : nil)
        } catch {
            return ForwardAnswer(.tryAgain(error), latency: start.duration(to: .now))
        }
    }
}

extension ForwardAnswer.Verdict {
    /// Sorts an answer to a forward by its status alone. Only code and message are read from the body, if it arrived.
    ///
    /// | status | verdict | why |
    /// | --- | --- | --- |
    /// | 2xx | accepted | Cleeng: "structure and content of the request is correct" |
    /// | 400, 422 | rejected | the only statuses about this one purchase |
    /// | 401, 403, 404 | misconfigured | token, rights or URL |
    /// | 3xx, 405, 406, 407, 410, 411, 415 | misconfigured | a wrong endpoint, or one that has changed |
    /// | 408, 409, 425, 429, 5xx | try again | temporary |
    /// | all else, 413 too | try again | may be due to this one purchase, so it must not stop the others |
    init(_ reply: HTTPReply, scrubber: MessageScrubber) {
        switch reply.status {
        case 200..<300: self = .accepted
        case 400, 422:
            let said = UpstreamMessage(reply.wholeBody, scrubber: scrubber)
            self = .rejected(code: said.code, message: said.message)
        case let status where StatusSorting.isMisconfiguration(status):
            self = .misconfigured(message: UpstreamMessage(reply.wholeBody, scrubber: scrubber).message)
        default: self = .tryAgain(StatusSorting.trouble(reply.status), retryAfter: reply.headers.retryAfter())
        }
    }

    static func tryAgain(_ trouble: CleengTrouble, retryAfter: Duration? = nil) -> Self {
        .tryAgain(why: trouble.rawValue, retryAfter: retryAfter)
    }
}
