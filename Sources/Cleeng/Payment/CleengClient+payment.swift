import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import OutboundHTTP
import RelayCore

extension CleengClient {
    /// Forwards one purchase of the App Store: `POST {paymentURL}/apple/payment`.
    ///
    /// Sending the same purchase of the same email again does no harm (Cleeng: "no action is taken"); another email's
    /// moves the subscription to that customer.
    ///
    /// - Parameter timeout: instead of ``CleengConfiguration/upstreamTimeout``.
    public func pay(_ payment: ApplePayment, timeout: Duration? = nil) async -> PaymentReply {
        await pay("/apple/payment", payment.body(), customerEmail: payment.customerEmail, timeout: timeout)
    }

    /// Forwards one purchase of Google Play: `POST {paymentURL}/android/payment`. As for the App Store's, so for this one.
    ///
    /// - Parameter timeout: instead of ``CleengConfiguration/upstreamTimeout``.
    public func pay(_ payment: AndroidPayment, timeout: Duration? = nil) async -> PaymentReply {
        await pay("/android/payment", payment.body(), customerEmail: payment.customerEmail, timeout: timeout)
    }

    /// Forwards one purchase of the Amazon Appstore: `POST {paymentURL}/amazon/payment`. As for the App Store's, so for this one.
    ///
    /// - Parameter timeout: instead of ``CleengConfiguration/upstreamTimeout``.
    public func pay(_ payment: AmazonPayment, timeout: Duration? = nil) async -> PaymentReply {
        await pay("/amazon/payment", payment.body(), customerEmail: payment.customerEmail, timeout: timeout)
    }

    private func pay(
        _ route: String, _ body: ByteBuffer, customerEmail: String, timeout: Duration?
    ) async -> PaymentReply {
        let start = ContinuousClock.now
        var request = HTTPClientRequest(url: configuration.paymentURL + route)
        request.method = .POST
        request.headers = headers()
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(body)
        do {
            let deadline = start + (timeout ?? configuration.upstreamTimeout)
            let reply = try await send(request, route: route, deadline: deadline)
            let verdict = PaymentReply.Verdict(reply, scrubber: scrubber(for: EmailAddress(customerEmail)))
            return PaymentReply(verdict: verdict, status: reply.status, latency: start.duration(to: .now))
        } catch {
            return PaymentReply(
                verdict: .tryAgain(error, retryAfter: nil), status: nil, latency: start.duration(to: .now))
        }
    }
}
