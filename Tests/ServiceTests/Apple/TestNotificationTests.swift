import Foundation
import ReceiverSupport
import Testing

/// Test notifications that operators request from the App Store: whether they arrived, and if not, why.
@Suite struct TestNotificationTests {
    private func run(_ body: (Setup, AppStoreAPI) async throws -> Void) async throws {
        let store = try TestAppStore()
        defer { store.end() }
        let api = try await AppStoreAPI.start(signing: store)
        try await api.during {
            try await Setup.run(settings: store.settings(relayingTo: nil, api.settings(api.key))) { setup in
                try await body(setup, api)
            }
        }
    }

    private func test(_ relay: Relay, _ more: String = "", by key: String? = nil) async throws -> HTTP.Answer {
        try await HTTP.post(
            relay.opsURL + "/ops/notifications/test",
            headers: [
                "Authorization": "Bearer \(key ?? relay.keys.operator)", "Content-Type": "application/json",
            ], body: Data(#"{"reason":"a new firewall","environment":"Sandbox"\#(more)}"#.utf8))
    }

    @Test func aTestThatArrivedIsFoundAmongOthers() async throws {
        try await run { setup, api in
            try await api.sendTests(to: setup.relay)
            let answer = try await test(setup.relay, #","bundleId":"com.example.app""#)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer.json["outcome"].string == "received")
            #expect(answer.json["attempts"][0]["sendAttemptResult"].string == "SUCCESS")
            let uuid = try #require(answer.json["notificationUUID"].string)
            let newest = try await setup.relay.ops("/ops/notifications").json["items"][0]
            #expect(newest["notificationUUID"].string == uuid)
            #expect(newest["type"].string == "TEST")
        }
    }

    @Test func aMissingURLIsReported() async throws {
        try await run { setup, api in
            let answer = try await test(setup.relay)
            #expect(answer.status == 409)
            #expect(answer.json["detail"].string?.contains("no App Store Server Notifications URL") == true)
            // The next test is requested all the same.
            try await api.sendTests(to: setup.relay)
            #expect(try await test(setup.relay).json["outcome"].string == "received")
        }
    }

    @Test func aWrongURLIsReported() async throws {
        try await withReceiver { port, _ in
            try await run { setup, api in
                try await api.sendTests(to: "http://127.0.0.1:\(port)/")
                let answer = try await test(setup.relay)
                #expect(answer.json["outcome"].string == "elsewhere", "\(answer.text)")
                try await api.sendTests(to: "http://127.0.0.1:9/")
                let other = try await test(setup.relay)
                #expect(other.json["outcome"].string == "failed", "\(other.text)")
                #expect(other.json["attempts"][0]["sendAttemptResult"].string == "NO_RESPONSE")
            }
        }
    }

    @Test func whatCannotBeAskedIsRefused() async throws {
        try await run { setup, api in
            try await api.sendTests(to: setup.relay)
            #expect(try await test(setup.relay, #","bundleId":"com.example.other""#).status == 409)
            #expect(try await test(setup.relay, by: setup.relay.keys.viewer).status == 403)
            try await api.trouble(#"{"status":500}"#)
            #expect(try await test(setup.relay).status == 503)
        }
    }

    @Test func withoutAKeyTheAppStoreIsNotAsked() async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await Setup.run(settings: store.settings(relayingTo: nil)) { setup in
            let answer = try await test(setup.relay)
            #expect(answer.status == 409)
            #expect(answer.json["detail"].string?.contains("RELAY_APPLE_API_KEY") == true)
        }
    }
}
