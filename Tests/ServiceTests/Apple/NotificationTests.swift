import AppStoreSimulation
import Foundation
import TestRun
import Testing

/// Tests of `POST /apple/notifications` of the whole service.
@Suite struct NotificationTests {
    private func run(
        _ more: [String: String] = [:], _ body: (Setup, TestAppStore) async throws -> Void
    ) async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await Setup.run(settings: store.settings(relayingTo: nil, more)) { setup in try await body(setup, store) }
    }

    @Test func aGenuineOneIsKeptOnceAndShown() async throws {
        try await run { setup, store in
            var life = try store.subscription()
            let bought = life.bought(at: Date())
            let first = try await setup.relay.notify(bought, signedBy: store)
            #expect(first.status == 200)
            #expect(first.text == "{}")
            // Signed again, as a redelivery may be.
            #expect(try await setup.relay.notify(bought, signedBy: store).status == 200)
            let items = try await setup.relay.ops("/ops/notifications").json["items"].array ?? []
            #expect(items.count == 1)
            #expect(items[0]["type"].string == "SUBSCRIBED" && items[0]["subtype"].string == "INITIAL_BUY")
            #expect(items[0]["notificationUUID"].string == bought.notificationUUID)
            #expect(items[0]["originalTransactionId"].string == life.originalTransactionId)
            #expect(items[0]["environment"].string == "Sandbox")
            #expect(items[0]["relay"]["status"].string == "off")
            let id = try #require(items[0]["id"].string)
            let detail = try await setup.relay.ops("/ops/notifications/\(id)").json
            #expect(detail["payload"]["notificationType"].string == "SUBSCRIBED")
            #expect(detail["transaction"]["originalTransactionId"].string == life.originalTransactionId)
            let subscription = try await setup.relay.subscription(life)
            #expect(subscription["status"].string == "active")
            #expect(subscription["willRenew"].bool == true)
            #expect(subscription["customerEmail"].isNull)
            #expect(subscription["timeline"][0]["event"].string == "subscribed")
            let metrics = try await setup.relay.metrics()
            #expect(metrics.contains(#"apple_notifications_total{result="stored",version="2"} 1"#))
            #expect(metrics.contains(#"apple_notifications_total{result="repeated",version="2"} 1"#))
        }
    }

    @Test func testAndUnknownNotificationsAreStored() async throws {
        try await run { setup, store in
            var life = try store.subscription()
            var unknown = life.bought(at: Date())
            unknown.notificationType = "SOMETHING_OF_NEXT_YEAR"
            unknown.subtype = "AND_ITS_KIND"
            let test = SimulatedNotification(
                notificationType: "TEST", notificationUUID: UUID().uuidString, bundleId: "com.example.app",
                signedDate: Date())
            for one in [unknown, test] {
                #expect(try await setup.relay.notify(one, signedBy: store).status == 200)
            }
            #expect(try await setup.relay.ops("/ops/notifications").json["items"].array?.count == 2)
        }
    }

    /// Each refused notification with the beginning of its error text.
    @Test func forgedAndForeignNotificationsAreRefused() async throws {
        try await run(["RELAY_APPLE_ENVIRONMENTS": "Sandbox"]) { setup, store in
            var life = try store.subscription()
            let good = life.bought(at: Date())
            func body(_ change: (inout SimulatedNotification) -> Void) throws -> Data {
                var notification = good
                change(&notification)
                return try store.transactions.sign(notification)
            }
            let stranger = try TestAppStore(isStranger: true)
            defer { stranger.end() }
            let text = try #require(
                try JSON(data: store.transactions.sign(good))["signedPayload"].string)
            let parts = text.split(separator: ".")
            let tampered = "\(parts[0]).\(Data("{}".utf8).base64EncodedString()).\(parts[2])"
            let refused: [(String, Data)] = [
                ("untrusted_root", try stranger.transactions.sign(good)),
                ("untrusted_root", try store.transactions.sign(good, inner: stranger.transactions)),
                ("bundle", try body { $0.bundleId = "com.example.other" }),
                ("bundle", try body { $0.transaction?.bundleId = "com.example.other" }),
                ("environment", try body { $0.environment = "Production" }),
                ("environment", try body { $0.environment = "Xcode" }),
                ("mismatch", try body { $0.renewal?.originalTransactionId = "1" }),
                ("no_date", Data(#"{"signedPayload":"\#(tampered.replacingOccurrences(of: "=", with: ""))"}"#.utf8)),
                ("unreadable", Data(#"{"signedPayload":"a.b"}"#.utf8)),
                ("unreadable", Data(#"{"signedPayload":""}"#.utf8)),
                ("signature", Data(#"{"notification_type":"DID_RENEW","password":"wrong"}"#.utf8)),
                ("signature", Data(#"{"notification_type":"DID_RENEW"}"#.utf8)),
            ]
            for (code, body) in refused {
                let answer = try await setup.relay.notify(body)
                #expect(answer.status == 403, "\(code): \(answer.text)")
                #expect(answer.json["code"].string == "notification_not_genuine")
                #expect(answer.json["detail"].string?.hasPrefix("\(code): ") == true, "\(code): \(answer.text)")
            }
            for body in ["[]", "{}", "7", #"{"signedPayload":7}"#, #"{"notificationType":"DID_RENEW"}"#] {
                let answer = try await setup.relay.notify(Data(body.utf8))
                #expect(answer.status == 400, "\(body): \(answer.text)")
                #expect(answer.json["code"].string == "not_a_notification", "\(body)")
            }
            let noJSON = try await setup.relay.notify(Data("signedPayload".utf8))
            #expect(noJSON.status == 400 && noJSON.json["code"].string == "not_json")
            #expect(try await setup.relay.ops("/ops/notifications").json["items"].array?.isEmpty == true)
            #expect(try await setup.relay.ops("/ops/subscriptions").json["items"].array?.isEmpty == true)
            try await setup.relay.process.says("a notification is refused")
            #expect(!setup.relay.process.output.contains { $0.contains("wrong") && $0.contains("password") })
            let metrics = try await setup.relay.metrics()
            #expect(metrics.contains(#"apple_notifications_total{result="untrusted_root"} 2"#))
            #expect(metrics.contains(#"apple_notifications_total{result="not_a_notification"} 6"#))
        }
    }

    @Test func versionOneNeedsTheSecretAndIsReadByItsContent() async throws {
        try await run { setup, store in
            var life = try store.subscription()
            let now = Date()
            life.bought(at: now.addingTimeInterval(-3_600))
            func update(_ type: String, renews: Bool, changed: Date?, receipt: String) throws -> Data {
                let update = SimulatedStatusUpdate(
                    notificationType: type, password: TestAppStore.secret, bundleId: life.bundleId,
                    autoRenewStatus: renews, autoRenewStatusChangeDate: changed,
                    autoRenewProductId: life.transaction.productId, originalTransactionId: life.originalTransactionId,
                    transactions: life.transactions, renewals: [])
                // Each delivery contains another receipt.
                var object = try #require(
                    try JSONSerialization.jsonObject(with: update.json()) as? [String: Any])
                object["latest_receipt"] = receipt
                return try JSONSerialization.data(withJSONObject: object)
            }
            #expect(
                try await setup.relay.notify(update("DID_RENEW", renews: true, changed: nil, receipt: "a")).status
                    == 200)
            #expect(
                try await setup.relay.notify(update("DID_RENEW", renews: true, changed: nil, receipt: "b")).status
                    == 200)
            let off = try update("DID_CHANGE_RENEWAL_STATUS", renews: false, changed: now, receipt: "c")
            #expect(try await setup.relay.notify(off).status == 200)
            #expect(try await setup.relay.subscription(life)["willRenew"].bool == false)
            // Made before the last one and delivered after it.
            let on = try update(
                "DID_CHANGE_RENEWAL_STATUS", renews: true, changed: now.addingTimeInterval(-60), receipt: "d")
            #expect(try await setup.relay.notify(on).status == 200)
            #expect(try await setup.relay.subscription(life)["willRenew"].bool == false)
            let items = try await setup.relay.ops("/ops/notifications").json["items"].array ?? []
            #expect(items.count == 3)
            #expect(items.allSatisfy { $0["version"].int == 1 && $0["environment"].string == "Sandbox" })
            let id = try #require(items[0]["id"].string)
            let detail = try await setup.relay.ops("/ops/notifications/\(id)")
            #expect(detail.json["payload"]["password"].string == "***")
            #expect(!detail.text.contains(TestAppStore.secret))
            #expect(!setup.relay.process.output.contains { $0.contains(TestAppStore.secret) })
        }
    }

    /// Guards against a version 1 change of the next product that is dropped because an earlier notification named a
    /// later time. The receipt in each has its own creation time, which orders them.
    @Test(.whole) func versionOneIsOrderedByTheReceiptInIt() async throws {
        try await run { setup, store in
            var life = try store.subscription()
            let now = Date()
            life.bought(at: now - 3_600)
            let bought = life
            func tell(_ type: String, next product: String, changed: Date? = nil, made: Date) async throws {
                let update = SimulatedStatusUpdate(
                    notificationType: type, password: TestAppStore.secret, bundleId: bought.bundleId,
                    autoRenewStatus: false, autoRenewStatusChangeDate: changed, autoRenewProductId: product,
                    originalTransactionId: bought.originalTransactionId, transactions: bought.transactions,
                    renewals: [])
                var object = try #require(try JSONSerialization.jsonObject(with: update.json()) as? [String: Any])
                var unified = try #require(object["unified_receipt"] as? [String: Any])
                unified["latest_receipt"] = Data(try store.receipts.sign(bought.receipt(at: made)))
                    .base64EncodedString()
                object["unified_receipt"] = unified
                let answer = try await setup.relay.notify(JSONSerialization.data(withJSONObject: object))
                #expect(answer.status == 200, "\(answer.text)")
            }
            func next() async throws -> String? {
                try await setup.relay.subscription(bought)["autoRenewProductId"].string
            }
            // Receipts have whole seconds.
            let present = bought.transaction.productId
            try await tell("DID_CHANGE_RENEWAL_STATUS", next: present, changed: now - 60, made: now - 60)
            #expect(try await next() == present)
            try await tell("DID_CHANGE_RENEWAL_PREF", next: "com.example.year", made: now - 30)
            #expect(try await next() == "com.example.year")
            // Made before the last one and delivered after it.
            try await tell("DID_CHANGE_RENEWAL_PREF", next: "com.example.week", made: now - 45)
            #expect(try await next() == "com.example.year")
            #expect(try await setup.relay.ops("/ops/notifications").json["items"].array?.count == 3)
        }
    }

    @Test(.whole) func withoutTheSecretVersionOneIsRefused() async throws {
        try await run(["RELAY_APPLE_SHARED_SECRET": ""]) { setup, _ in
            let answer = try await setup.relay.notify(
                Data(#"{"notification_type":"DID_RENEW","password":""}"#.utf8))
            #expect(answer.status == 403)
            #expect(answer.json["detail"].string?.hasPrefix("unsigned: ") == true)
        }
    }

    @Test func largeBodiesAreRefusedAndAFloodOfForgeriesDelaysNoOther() async throws {
        try await run(["RELAY_MAX_BODY_BYTES": "65536"]) { setup, store in
            #expect(try await setup.relay.notify(Data(count: 100_000)).status == 413)
            // So large that the answer may arrive, and the connection close, before all of it is sent.
            let huge = try? await setup.relay.notify(Data(count: 20 << 20))
            #expect(huge == nil || huge?.status == 413)
            let deep = try await setup.relay.notify(Data(String(repeating: "[", count: 60_000).utf8))
            #expect(deep.status == 400)
            let stranger = try TestAppStore(isStranger: true)
            defer { stranger.end() }
            var life = try store.subscription()
            let bought = life.bought(at: Date())
            let forged = try stranger.transactions.sign(bought)
            let began = ContinuousClock.now
            try await withThrowingTaskGroup { group in
                for _ in 0..<16 {
                    group.addTask {
                        for _ in 0..<50 {
                            let status = try await setup.relay.notify(forged).status
                            #expect(status == 403)
                        }
                    }
                }
                let genuine = try await setup.relay.notify(bought, signedBy: store)
                #expect(genuine.status == 200)
                try await group.waitForAll()
            }
            Measured.note("800 forged notifications refused", began.duration(to: .now))
            let logged = setup.relay.process.output.count { $0.contains("a notification is refused") }
            #expect(logged < 60)
        }
    }
}

extension DatabaseDays {
    @Suite struct NotificationTests {
        @Test func withoutTheDatabaseAppleIsAskedToRepeat() async throws {
            let cluster = try await PrivateCluster.crashing()
            let store = try TestAppStore()
            defer { store.end() }
            try await BadDay.run(in: cluster, settings: store.settings(relayingTo: nil)) { day in
                let relay = try await day.relay()
                var life = try store.subscription()
                let bought = life.bought(at: Date())
                await cluster.stop()
                let away = try await relay.notify(bought, signedBy: store)
                #expect((500..<600).contains(away.status), "\(away.text)")
                try await cluster.start()
                try await Awaiting.fact("it is taken", is: 200) {
                    try await relay.notify(bought, signedBy: store).status
                }
                #expect(try await relay.ops("/ops/notifications").json["items"].array?.count == 1)
            }
        }
    }
}
