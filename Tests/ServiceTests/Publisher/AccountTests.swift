import AppStoreSimulation
import Foundation
import ReceiverSupport
import Testing

/// Publishers with their own account at Cleeng, besides those that share the common one.
@Suite struct AccountTests {
    @Test func eachPublishersPurchasesGoToItsOwnAccountWithItsOwnToken() async throws {
        try await AccountScene.run { scene in
            let purchase = TestPurchase(email: "ana@example.test")
            let mine = try await scene.buy(purchase, nordic: true)
            let common = try await scene.buy(purchase, nordic: false)
            #expect(mine != common)
            #expect(try await scene.outcome(mine, nordic: true) == "granted")
            #expect(try await scene.outcome(common, nordic: false) == "granted")
            for simulator in [scene.setup.simulator, scene.other] {
                let sent = try await simulator.requests(path: "/apple/payment")
                #expect(sent.count == 1 && sent.allSatisfy { $0["publisherToken"].string == "present" }, "\(sent)")
                #expect(try await simulator.requests().allSatisfy { $0["status"].int == 200 })
            }
            let metrics = try await scene.relay.metrics()
            #expect(metrics.contains(#"relay_upstream_state{account="nordic",state="ok"} 1"#))
            #expect(metrics.contains(#"relay_upstream_state{state="ok"} 1"#))
            #expect(!scene.relay.process.output.contains { $0.contains(AccountScene.token) })
        }
    }

    /// The token is wrong: failures of five customers in a row shut that account's routes, and no other's.
    @Test func anErrorOfOneAccountDelaysNoOther() async throws {
        try await AccountScene.run(
            settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"], token: "not_the_token_that_cleeng_knows"
        ) { scene in
            var waiting: [String] = []
            for number in 0..<12 {
                waiting.append(try await scene.buy(TestPurchase(email: "n\(number)@example.test"), nordic: true))
            }
            try await Awaiting.fact("nordic's payments are held back") {
                try await scene.relay.metrics()
            } holds: {
                $0.contains(#"relay_upstream_breaker_state{account="nordic",route="payment",state="closed"} 0"#)
                    && $0.contains(#"relay_upstream_state{account="nordic",state="misconfigured"} 1"#)
            }
            for number in 0..<12 {
                let id = try await scene.buy(TestPurchase(email: "m\(number)@example.test"), nordic: false)
                #expect(try await scene.outcome(id, nordic: false) == "granted")
            }
            let metrics = try await scene.relay.metrics()
            #expect(metrics.contains(#"relay_upstream_breaker_state{route="payment",state="closed"} 1"#))
            for id in waiting {
                #expect(try await scene.relay.poll(id, key: scene.nordicApp).json["status"].string == "pending")
            }
            let summary = try await scene.relay.ops("/ops/summary").json
            #expect(summary["upstream"]["state"].string == "misconfigured")
            #expect(summary["upstream"]["lastError"].string?.hasPrefix("nordic: ") == true, "\(summary)")
        }
    }

    /// Both publishers have a customer with this email, who waits for this offer.
    @Test func anEventAppliesOnlyToItsAccountsCustomers() async throws {
        let secrets = (common: "the secret of the common account", nordic: "the secret of nordic's account")
        try await AccountScene.run(
            settings: [
                "RELAY_CLEENG_WEBHOOK_SECRET": secrets.common, "RELAY_POLL_INTERVAL_SECONDS": "20",
                "RELAY_VALIDATION_TIMEOUT_SECONDS": "300", "RELAY_CLEENG_DRIVER": "receipt",
            ], nordic: "    webhook_secret: \(secrets.nordic)"
        ) { scene in
            for simulator in [scene.setup.simulator, scene.other] {
                try await SimulatorControl(simulator).behave("ana@example.test", "never")
            }
            let purchase = TestPurchase(email: "ana@example.test")
            let common = try await scene.buy(purchase, nordic: false)
            let mine = try await scene.buy(purchase, nordic: true)
            for simulator in [scene.setup.simulator, scene.other] {
                try await Awaiting.fact("Cleeng has it", is: 1) {
                    try await simulator.requests(path: "/apple/payment").count
                }
            }
            let body = Data(
                #"{"topic":"inappPurchaseValidationSucceeded","data":{"result":"SubscriptionCreated","offerId":"S123456789_US","active":true,"customerEmail":"ana@example.test"}}"#
                    .utf8)
            func tell(_ secret: String) async throws -> Int {
                try await scene.relay.cleengEvent(body, secret: secret).status
            }
            #expect(try await tell("the secret of nobody") == 401)
            #expect(try await tell(secrets.nordic) == 200)
            #expect(try await scene.outcome(mine, nordic: true) == "granted")
            #expect(try await scene.relay.poll(common).json["status"].string == "pending")
            #expect(try await tell(secrets.common) == 200)
            #expect(try await scene.outcome(common, nordic: false) == "granted")
        }
    }

    @Test func eachPublishersMessagesHaveItsOwnPasswordAndSignature() async throws {
        let secrets = (common: Data("a secret of twenty-four b".utf8), nordic: Data("another of twenty-four by".utf8))
        try await withReceiver { port, received in
            try await AccountScene.run(
                settings: [
                    "RELAY_WEBHOOK_PASSWORD": "mains", "RELAY_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8",
                    "RELAY_WEBHOOK_SECRETS": "whsec_\(secrets.common.base64EncodedString())",
                ],
                nordic: """
                      webhook:
                        password: nordics
                        secrets: whsec_\(secrets.nordic.base64EncodedString())
                    """
            ) { scene in
                for publisher in ["main", "nordic"] {
                    let added = try await ChildProcess.run(
                        "receipt-relay",
                        [
                            "webhooks", "add", "--url", "http://127.0.0.1:\(port)/\(publisher)", "--publisher",
                            publisher,
                        ],
                        environment: ["RELAY_DATABASE_URL": scene.setup.database.url])
                    #expect(added.code == 0)
                }
                let purchase = TestPurchase(email: "ana@example.test")
                _ = try await scene.buy(purchase, nordic: true)
                _ = try await scene.buy(purchase, nordic: false)
                let all = try await Awaiting.fact("both are told") {
                    received().filter { $0.body.contains("purchases.updated") }
                } holds: {
                    $0.contains { $0.path == "/main" } && $0.contains { $0.path == "/nordic" }
                }
                for one in all {
                    let isNordics = one.path == "/nordic"
                    let body = try JSON(data: Data(one.body.utf8))
                    #expect(body["password"].string == (isNordics ? "nordics" : "mains"))
                    #expect(one.isSigned(by: isNordics ? secrets.nordic : secrets.common))
                    #expect(!one.isSigned(by: isNordics ? secrets.common : secrets.nordic))
                }
            }
        }
    }

    @Test func eachPublishersNotificationsAreForwardedWithItsOwnID() async throws {
        let store = try TestAppStore()
        defer { store.end() }
        let path = TestAppStore.path("{publisherId}")
        try await AccountScene.run(
            settings: ["RELAY_CLEENG_NOTIFICATION_URL": "http://127.0.0.1:9\(path)"].merging(
                store.settings(relayingTo: nil)
            ) { $1 },
            nordic: """
                    publisher_id: "555"
                    notification_url: "\(AccountScene.otherURL)\(path)"
                """
        ) { scene in
            let mine = try await Relay.makeKey("app", scene.setup.database, app: "com.example.app", publisher: "nordic")
            var life = try store.subscription()
            life.bought(at: Date())
            var purchase = try store.purchase(life, email: "ana@example.test")
            purchase.extra["applicationUsername"] = "u"
            let answer = try await scene.relay.purchase(purchase, key: mine)
            #expect(answer.status == 202, "\(answer.text)")
            let body = try store.transactions.sign(life.renewalTurned(.off, at: Date()))
            #expect(try await scene.relay.notify(body).status == 200)
            try await Awaiting.fact("nordic's Cleeng has taken it") {
                try await scene.other.requests(path: TestAppStore.path("555"))
            } holds: {
                $0.map { $0["status"].int } == [200]
            }
        }
    }
}
