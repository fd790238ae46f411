import Foundation
import HTTPTypes
import Testing

@testable import SimulatorKit
@testable import StoreSimulator

/// The simulated Google Play without HTTP, at a time that a test sets, with a valid access token.
final class GoogleBench: StoreBench {
    var now = TestAccount.now
    var front: StoreFront<SimulatedGoogle>
    private let token: String

    init() throws {
        var issuer = try TokenIssuer(#require(TestAccount.file), tokenLife: 86_400 * 365)
        let form = "\(TestAccount.grant)&assertion=\(try TestAccount.assertion())"
        let call = Call(method: "POST", path: "/token", body: Data(form.utf8), startedAt: now)
        let reply = issuer.issue(call, at: now).reply
        let fields = try JSONSerialization.jsonObject(with: reply.body ?? Data()) as? [String: Any]
        token = try #require(fields?["access_token"] as? String)
        let pubSub = SimulatedPubSub(key: TestAccount.pushKey)
        front = StoreFront(SimulatedGoogle(issuer: issuer, pubSub: pubSub), keepRequests: 100)
    }

    /// With push to an address that nothing is sent to.
    static func pushing() throws -> GoogleBench {
        let bench = try GoogleBench()
        try bench.control("PUT", "push", #"{"url":"http://127.0.0.1:9/push"}"#)
        return bench
    }

    /// A call of the API of `com.example.app`, such as `GET`, `products/film/tokens/t`.
    /// - Returns: nil where it is not answered.
    func api(
        _ method: String, _ path: String, query: String? = nil, body: String = "", authorized: Bool = true
    ) -> StoreAnswer? {
        let root = "/androidpublisher/v3/applications/com.example.app/purchases"
        let call = Call(
            method: method, path: "\(root)/\(path)", query: query,
            headers: authorized ? [.authorization: "Bearer \(token)"] : [:], body: Data(body.utf8), startedAt: now)
        return answer(to: call)
    }

    /// Takes the attempts that may begin now.
    func attempts() -> [SimulatedPubSub.Attempt] {
        var attempts: [SimulatedPubSub.Attempt] = []
        while let next = nextAttempt() { attempts.append(next) }
        return attempts
    }

    func nextAttempt() -> SimulatedPubSub.Attempt? { front.store.pubSub.next() }

    /// Ends an attempt.
    /// - Returns: the next one's delivery, and the pause before it.
    func end(
        _ attempt: SimulatedPubSub.Attempt, _ status: Int?
    ) -> (delivery: PushDelivery<PubSubContent>, pause: Duration)? {
        front.store.pubSub.end(attempt, status: status)
    }

    func retry(_ delivery: PushDelivery<PubSubContent>) { front.store.pubSub.retry(delivery) }

    /// `ACKNOWLEDGEMENT_STATE_…` of a subscription.
    func acknowledgementState(_ token: String) -> String? {
        api("GET", "subscriptionsv2/tokens/\(token)")?.json["acknowledgementState"] as? String
    }
}
