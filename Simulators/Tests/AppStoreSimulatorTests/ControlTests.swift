import AppStoreSimulation
import Foundation
import NIOHTTP1
import TestRun
import Testing

@testable import AppStoreSimulator

@Suite("What the simulated API is told", .timeLimit(.paced(minutes: 4)))
struct ControlTests {
    @Test func aSubscriptionThatCannotBe() async throws {
        try await APIBench.serving { bench in
            let end = #""expiresDate":1893456000000"#
            for (body, message) in [
                ("", "this is no JSON object"), ("[]", "this is no JSON object"), ("{", "this is no JSON object"),
                (#"{"productId":"a"}"#, "expiresDate is missing"), ("{\(end)}", "productId is missing"),
                (#"{"productId":7,\#(end)}"#, "productId is not what it has to be"),
                (#"{"productId":"a","expiresDate":-1}"#, "expiresDate is not what it has to be"),
                (#"{"productId":"a","expiresDate":253402300800000}"#, "expiresDate is not what it has to be"),
                (#"{"productId":"a","expiresDate":"2030-01-01"}"#, "expiresDate is not what it has to be"),
                (#"{"productId":"",\#(end)}"#, "a text has 1 to 255 bytes"),
                (#"{"productId":"a",\#(end),"status":6}"#, "status is 1 to 5"),
                (#"{"productId":"a",\#(end),"environment":"Xcode"}"#, "environment is Production or Sandbox"),
                (#"{"productId":"a",\#(end),"autoRenewStatus":2}"#, "autoRenewStatus is 0 or 1"),
                (#"{"productId":"a",\#(end),"revocationReason":2}"#, "revocationReason is 0 or 1"),
                (#"{"productId":"a",\#(end),"expirationIntent":6}"#, "expirationIntent is 1 to 5"),
                (#"{"productId":"a",\#(end),"priceIncreaseStatus":2}"#, "priceIncreaseStatus is 0 or 1"),
                (#"{"productId":"a",\#(end),"purchaseDate":1893456000001}"#, "purchaseDate is not after expiresDate"),
                (#"{"productId":"a",\#(end),"transactionId":"x"}"#, "a transaction id has 1 to 32 digits"),
                (#"{"productId":"a",\#(end),"transactionIds":["x"]}"#, "a transaction id has 1 to 32 digits"),
            ] {
                let answer = try await bench.control(.PUT, "subscriptions/1", body)
                #expect(answer.status == 400, "\(body)")
                #expect(answer.json["message"] as? String == message, "\(body)")
            }
            let unknown = try await bench.put("1", #","productID":"a""#)
            #expect((unknown.json["message"] as? String)?.hasPrefix("unknown field \"productID\"; known: ") == true)
            #expect(try await bench.put("one").status == 400)
            #expect(try await bench.statuses("1").status == 404)
        }
    }

    @Test func aTransactionIsOneSubscriptionsOnly() async throws {
        try await APIBench.serving { bench in
            try await bench.put("1", #","transactionId":"12""#)
            #expect(try await bench.put("2", #","transactionId":"12""#).status == 409)
            #expect(try await bench.put("12").status == 409)
            #expect(try await bench.put("2", #","transactionId":"1""#).status == 409)
            #expect(try await bench.statuses("2").status == 404)
            try await bench.control(.DELETE, "subscriptions/1")
            #expect(try await bench.put("2", #","transactionId":"12""#).status == 200)
        }
    }

    @Test func onlySoManyTransactionsAreRemembered() async throws {
        try await APIBench.serving { bench in
            let ids = (100...199).map { "\"\($0)\"" }
            try await bench.put("1", #","transactionIds":[\#(ids.joined(separator: ","))]"#)
            let known = try #require(
                try await bench.put("1", #","transactionId":"200""#).json["transactionIds"] as? [String])
            #expect(known.count == 100)
            #expect(try await bench.statuses("101").status == 404, "the oldest")
            for id in ["1", "199", "200"] { #expect(try await bench.statuses(id).status == 200, "\(id)") }
            let tooMany = #","transactionIds":[\#((ids + [#""200""#]).joined(separator: ","))]"#
            #expect(try await bench.put("1", tooMany).status == 400)
        }
    }

    @Test func aNotificationThatIsNone() async throws {
        try await APIBench.serving { bench in
            func signed(_ json: String) throws -> String {
                #"{"signedPayload":"\#(try APIBench.authority.get().sign(json: Data(json.utf8)))"}"#
            }
            let head = #""notificationType":"TEST","notificationUUID":"u","signedDate":1"#
            for body in [
                "", "[]", "{}", #"{"signedPayload":7}"#, #"{"signedPayload":"a.b"}"#, #"{"signedPayload":"a.b.c"}"#,
                try signed("[]"), try signed("{}"), try signed("{\(head)}"),
                try signed(#"{\#(head),"data":{"environment":"Sandbox"}}"#),
                try signed(#"{\#(head),"data":{"environment":"Sandbox","bundleId":"a","signedTransactionInfo":"x"}}"#),
                try signed(#"{"notificationType":"TEST","notificationUUID":"u","signedDate":-1,"data":{}}"#),
                try signed(#"{\#(head),"data":{"environment":"Sandbox","bundleId":"a"}}"#).replacing(
                    "{", with: #"{"a":1,"#),
            ] {
                #expect(try await bench.control(.POST, "notifications", body).status == 400, "\(body.prefix(40))")
            }
            let good = try signed(#"{\#(head),"data":{"environment":"Sandbox","bundleId":"a"}}"#)
            #expect(try await bench.control(.POST, "notifications?sendAttemptResult=LOST", good).status == 400)
            #expect(try await bench.control(.POST, "notifications", good).status == 200)
            let large = #"{"signedPayload":"\#(String(repeating: "a", count: 128 * 1_024))"}"#
            #expect(try await bench.control(.POST, "notifications", large).status == 413)
        }
    }

    @Test func addressesAndMethods() async throws {
        try await APIBench.serving { bench in
            for path in ["", "nothing", "subscriptions", "subscriptions/1/2", "trouble/1"] {
                #expect(try await bench.control(.GET, path).status == 404, "\(path)")
            }
            for (path, allowed) in [
                ("subscriptions/1", "PUT, DELETE"), ("notifications", "POST"), ("trouble", "PUT, DELETE"),
                ("requests", "GET, DELETE"),
            ] {
                let answer = try await bench.control(.PATCH, path)
                #expect(answer.status == 405, "\(path)")
                #expect(answer.headers["allow"] == allowed)
            }
        }
    }

    @Test func onlySoManyNotificationsAreRemembered() throws {
        let bench = APIBench(url: "", time: ManualTime())
        let told = try RecordedNotification(body: try APIBench.authority.get().sign(bench.notification(1)))
        var history = NotificationHistory()
        for name in 0...NotificationHistory.capacity {
            history.add(told.named("\(name)"), SendAttempt(attemptDate: 0, sendAttemptResult: .success))
        }
        #expect(history.items.count == NotificationHistory.capacity)
        #expect(history.items.first?.uuid == "1")
    }
}

extension RecordedNotification {
    fileprivate func named(_ uuid: String) -> RecordedNotification {
        var other = self
        other.uuid = uuid
        return other
    }
}
