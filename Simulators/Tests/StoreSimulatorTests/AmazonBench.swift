import Foundation
import Testing

@testable import SimulatorKit
@testable import StoreSimulator

/// The simulated Amazon Appstore without HTTP.
final class AmazonBench: StoreBench {
    let now = TestAccount.now
    var front: StoreFront<SimulatedAmazon>

    static let key = SNSKey(at: TestAccount.now)

    init() throws {
        let sns = SimulatedSNS(key: Self.key)
        front = StoreFront(SimulatedAmazon(secret: "secret", sns: sns), keepRequests: 100)
    }

    /// With push to an address that nothing is sent to.
    static func pushing() throws -> AmazonBench {
        let bench = try AmazonBench()
        try bench.control("PUT", "push", #"{"url":"http://127.0.0.1:9/push","confirmed":true}"#)
        return bench
    }

    /// Takes the attempts that may begin now.
    func attempts() -> [SimulatedSNS.Attempt] {
        var attempts: [SimulatedSNS.Attempt] = []
        while let next = front.store.sns.next() { attempts.append(next) }
        return attempts
    }

    /// The messages of the attempts that may begin now.
    func sent() throws -> [SNSMessage] {
        try attempts().map { SNSMessage(try SimulatedSNS.request($0, at: now).body) }
    }

    /// Ends an attempt.
    /// - Returns: the pause before the next one.
    @discardableResult
    func end(_ attempt: SimulatedSNS.Attempt, _ status: Int?) -> Duration? {
        guard let next = front.store.sns.end(attempt, status: status) else { return nil }
        front.store.sns.retry(next.delivery)
        return next.pause
    }

    func confirm(_ query: String) -> StoreAnswer? {
        answer(to: Call(method: "GET", path: "/sns/confirm", query: query, body: Data(), startedAt: now))
    }
}
