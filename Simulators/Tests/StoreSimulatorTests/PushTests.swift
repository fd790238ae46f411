import Foundation
import ReceiverSupport
import StoreTestSupport
import TestRun
import Testing

@testable import SimulatorKit
@testable import StoreSimulator

@Suite("Push of store-simulator as a process", .timeLimit(.paced(minutes: 2)))
struct PushTests {
    /// A push as it arrived.
    private struct Push {
        let received: Received

        var message: [String: Any] {
            let body = try? JSONSerialization.jsonObject(with: Data(received.body.utf8)) as? [String: Any]
            return body?["message"] as? [String: Any] ?? [:]
        }

        var id: String? { message["messageId"] as? String }

        var notification: [String: Any] {
            let data = (message["data"] as? String).flatMap { Data(base64Encoded: $0) } ?? Data()
            return (try? JSONSerialization.jsonObject(with: data) as? [String: Any]) ?? [:]
        }
    }

    /// Runs a simulator that pushes to a receiver.
    /// - Parameter status: answers the push of a number, counted from 0; nil answers nothing.
    private func pushing(
        _ status: @escaping @Sendable (Int) -> Int? = { _ in 204 },
        test: @escaping @Sendable (StoreProcess, _ next: () async throws -> Push) async throws -> Void
    ) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).json").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        #expect(try StoreProcess.run(["google", "create-service-account", "--out", file]) == 0)
        try await withPushes(
            { url in
                [
                    "google", "--service-account", file, "--push-url", url, "--push-audience", "the-relay",
                    "--push-email", "push@example.test",
                ]
            }, answering: status,
            test: { store, next in try await test(store) { Push(received: try await next()) } })
    }

    @Test func aPurchaseArrivesSignedByTheKeyOfTheSet() async throws {
        try await pushing { store, next in
            try await store.control("PUT", "subscriptions/token-1", "{}")
            let push = try await next()
            #expect(push.received.method == "POST" && push.received.path == "/push")
            #expect(push.received.headers["content-type"] == "application/json")
            let details = push.notification["subscriptionNotification"] as? [String: Any]
            #expect(details?["notificationType"] as? Int == 4 && details?["purchaseToken"] as? String == "token-1")
            let authorization = try #require(push.received.authorization)
            let jws = try #require(UnverifiedJWS(String(authorization.dropFirst("Bearer ".count))))
            let claims = try #require(try JSONSerialization.jsonObject(with: jws.payload) as? [String: Any])
            #expect(claims["aud"] as? String == "the-relay" && claims["email"] as? String == "push@example.test")
            let header = try #require(try JSONSerialization.jsonObject(with: jws.header) as? [String: Any])
            let key = try VerificationKey(
                try await store.get("\(store.url)/oauth2/v3/certs").body, id: header["kid"] as? String)
            #expect(key.verifies(jws))
            let entry = try await store.message { $0["delivered"] as? Bool == true }
            #expect(entry["messageId"] as? String == push.id && entry["tries"] as? Int == 1)
            #expect(entry["type"] as? String == "SUBSCRIPTION_PURCHASED" && entry["token"] as? String == "token-1")
            #expect(entry["lastStatus"] as? Int == 204)
        }
    }

    @Test func aForgedOneArrivesWithoutACredentialAndARawOneAsItIs() async throws {
        try await pushing { store, next in
            try await store.control(
                "POST", "notifications", #"{"notification":{"testNotification":{}},"forge":"none"}"#)
            let forged = try await next()
            #expect(forged.received.authorization == nil && forged.notification["testNotification"] != nil)
            #expect(try await store.message { _ in true }["forged"] as? Bool == true)
            try await store.control("POST", "notifications", #"{"raw":"no JSON"}"#)
            let raw = try await next()
            #expect(raw.received.body == "no JSON" && raw.received.authorization != nil)
        }
    }

    @Test func whatIsRefusedComesAgainUnderTheSameId() async throws {
        try await pushing {
            [500, 302][safe: $0] ?? 200
        } test: { store, next in
            try await store.control("PUT", "products/p", "{}")
            let pushes = [try await next(), try await next(), try await next()]
            #expect(pushes.map(\.received.path) == ["/push", "/push", "/push"])
            #expect(Set(pushes.map(\.id)).count == 1 && pushes[0].id != nil)
            let entry = try await store.message { $0["delivered"] as? Bool == true }
            #expect(entry["tries"] as? Int == 3 && entry["lastStatus"] as? Int == 200)
        }
    }

    @Test func withoutAnAnswerItComesAgainAfterTenSeconds() async throws {
        try await pushing {
            $0 == 0 ? nil : 200
        } test: { store, next in
            try await store.control("PUT", "products/p", "{}")
            let first = try await next()
            let begin = ContinuousClock.now
            #expect(try await next().id == first.id)
            #expect((9..<30).contains((ContinuousClock.now - begin).components.seconds))
            let entry = try await store.message { $0["delivered"] as? Bool == true }
            #expect(entry["tries"] as? Int == 2)
        }
    }

    @Test func aMessageThatNobodyTookGoesToTheAddressThatIsConfiguredThen() async throws {
        try await pushing { store, next in
            let good = try await store.control("GET", "push")
            // Nothing listens on a port of the reserved range.
            try await store.control("PUT", "push", #"{"url":"http://127.0.0.1:1/"}"#)
            try await store.control("PUT", "products/p", "{}")
            let refused = try await store.message { ($0["tries"] as? Int ?? 0) >= 2 }
            #expect(refused["lastStatus"] == nil && refused["delivered"] as? Bool == false)
            try await store.control("PUT", "push", good)
            #expect(try await next().id == refused["messageId"] as? String)
        }
    }

    @Test func heldDuplicatesArriveInTheShuffledOrder() async throws {
        try await pushing { store, next in
            try await store.control("PUT", "delivery", #"{"hold":true,"duplicate":1}"#)
            for number in 0..<10 { try await store.control("PUT", "products/p\(number)", "{}") }
            try await store.control("POST", "delivery/release", #"{"shuffle":true,"seed":7}"#)
            var arrived: [String] = []
            for _ in 0..<20 {
                let details = try await next().notification["oneTimeProductNotification"] as? [String: Any]
                arrived.append(try #require(details?["purchaseToken"] as? String))
            }
            var expected = (0..<10).flatMap { ["p\($0)", "p\($0)"] }
            var generator = SeededGenerator(seed: 7)
            expected.shuffle(using: &generator)
            #expect(arrived == expected)
        }
    }

    @Test func aTerminationDoesNotWaitForDeliveries() async throws {
        try await pushing {
            $0 < 3 ? nil : 500
        } test: { store, next in
            // Three that are never answered, and some that wait for their next attempt.
            for number in 0..<6 { try await store.control("PUT", "products/p\(number)", "{}") }
            for _ in 0..<6 { _ = try await next() }
            let begin = ContinuousClock.now
            #expect(store.endAndWait() == 0)
            #expect(ContinuousClock.now - begin < .seconds(5))
        }
    }
}
