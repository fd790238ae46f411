import AppStoreSimulation
import Foundation
import Testing

/// Two publishers in one database: an ops key sees and changes only its publisher's rows, through every interface.
@Suite struct OpsScopeTests {
    /// All rows of one publisher. Each contains the publisher's name, so that any leak is found.
    private struct Tenant {
        var name: String
        var viewer: String
        var `operator`: String
        var app: String
        /// A granted purchase, later transferred to the second one.
        var first: String
        var second: String
        /// A purchase that never gets access.
        var open: String
        var delivery: String
        var endpoint: String
        var notification: String
        var original: String
    }

    private static func tenant(_ name: String, _ setup: Setup, _ store: TestAppStore) async throws -> Tenant {
        let (relay, database) = (setup.relay, setup.database)
        func key(_ role: String) async throws -> String {
            try await Relay.makeKey(role, database, publisher: name)
        }
        let (app, viewer, operatorKey) = (
            try await key("app"), try await key("ops-viewer"), try await key("ops-operator")
        )
        func command(_ arguments: String...) async throws -> String {
            let ended = try await ChildProcess.run(
                "receipt-relay", arguments, environment: ["RELAY_DATABASE_URL": database.url])
            guard ended.code == 0 else { throw HarnessError.failed(arguments[0], ended.output) }
            return ended.output.first ?? ""
        }
        let endpoint = try await command(
            "webhooks", "add", "--publisher", name, "--url", "http://127.0.0.1:1/\(name)")
        _ = try await command(
            "offers", "add", "--publisher", name, "--offer", "S1_\(name)", "--product", "com.\(name).month")
        func buy(_ email: String, _ original: String) async throws -> String {
            var purchase = try store.purchase(email: email, original: original)
            purchase.offer = "S222222222_US"
            let answer = try await relay.purchase(purchase, key: app)
            return try #require(answer.json["validationId"].string, "\(answer.text)")
        }
        func granted(_ id: String) async throws {
            try await Awaiting.fact("\(id) is granted", is: "granted") {
                try await relay.poll(id, key: app).json["status"].string
            }
        }
        let original = TestPurchase.newTransactionID()
        let first = try await buy("ana@\(name).test", original)
        try await granted(first)
        let second = try await buy("ben@\(name).test", original)
        try await granted(second)
        let open = try await buy("cyd+never@\(name).test", TestPurchase.newTransactionID())
        let notice = try await relay.ops("/ops/subscriptions?originalTransactionId=\(original)")
        #expect(notice.json["items"].array?.count == 1)
        var notification = SimulatedTestNotice(original: original)
        notification.bundle = "com.example.app"
        let answer = try await HTTP.post(
            relay.url + "/apple/notifications", headers: ["Content-Type": "application/json"],
            body: try notification.body(signedBy: store))
        #expect(answer.status == 200, "\(answer.text)")
        let notices = try await relay.ops("/ops/notifications?originalTransactionId=\(original)")
        let delivery = try await Awaiting.fact("a message of \(name)") {
            try await relay.ops("/ops/webhooks?endpoint=\(endpoint)").json["items"][0]["id"].string
        } holds: {
            $0 != nil
        }
        return Tenant(
            name: name, viewer: viewer, operator: operatorKey, app: app, first: first, second: second, open: open,
            delivery: try #require(delivery), endpoint: endpoint,
            notification: try #require(notices.json["items"][0]["id"].string), original: original)
    }

    private static func run(_ body: (Setup, _ alpha: Tenant, _ omega: Tenant) async throws -> Void) async throws {
        let store = try TestAppStore()
        defer { store.end() }
        let settings = store.settings("observe").merging([
            "RELAY_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8", "RELAY_VALIDATION_TIMEOUT_SECONDS": "3600",
        ]) { $1 }
        try await Setup.run(settings: settings) { setup in
            let alpha = try await tenant("alphaville", setup, store)
            let omega = try await tenant("omegapolis", setup, store)
            try await body(setup, alpha, omega)
        }
    }

    /// All reads, and whether each shows the tenant's name.
    private static func reads(_ one: Tenant) -> [(path: String, shows: Bool)] {
        [
            ("/ops/validations?limit=200", true), ("/ops/validations?status=granted", true),
            ("/ops/validations?originalTransactionId=\(one.original)", true),
            ("/ops/validations?customerEmail=ana@\(one.name).test", true), ("/ops/validations?waiting=true", false),
            ("/ops/validations?parked=true", false), ("/ops/validations/\(one.first)", true),
            ("/ops/subscriptions", true), ("/ops/subscriptions?originalTransactionId=\(one.original)", true),
            ("/ops/subscriptions?customerEmail=ben@\(one.name).test", true), ("/ops/transfers", true),
            ("/ops/notifications", true), ("/ops/notifications?originalTransactionId=\(one.original)", true),
            ("/ops/notifications/\(one.notification)", true), ("/ops/webhooks", true),
            ("/ops/webhooks?applicationUsername=ana@\(one.name).test", true),
            ("/ops/webhooks?endpoint=\(one.endpoint)", true), ("/ops/webhooks/endpoints", true), ("/ops/offers", true),
            ("/ops/summary", false),
        ]
    }

    private static func pages(_ one: Tenant) -> [(path: String, shows: Bool)] {
        let lists = [
            "validations", "subscriptions", "transfers", "notifications", "webhooks", "endpoints", "orders", "offers",
            "keys", "audit",
        ].map { ("/console/\($0)", true) }
        let files = ["validations", "transfers", "notifications", "webhooks", "audit"].map {
            ("/console/\($0)?format=csv", true)
        }
        return lists + files + [
            ("/", true), ("/console/waiting", false), ("/console/parked", false),
            ("/console/orders?publisher=\(one.name)", true), ("/console/validations/\(one.first)", true),
            ("/console/customers?email=ana@\(one.name).test", true),
            ("/console/subscriptions?originalTransactionId=\(one.original)", true),
        ]
    }

    @Test func readsShowOnePublisher() async throws {
        try await Self.run { setup, alpha, omega in
            for (mine, theirs) in [(alpha, omega), (omega, alpha)] {
                for (path, shows) in Self.reads(mine) {
                    let answer = try await setup.relay.ops(path, key: mine.viewer)
                    #expect(answer.status == 200 && !answer.text.contains(theirs.name), "\(path): \(answer.text)")
                    #expect(!shows || answer.text.contains(mine.name), "\(path): \(answer.text)")
                    // A key for all publishers sees both.
                    let all = try await setup.relay.ops(path)
                    #expect(!shows || all.text.contains(mine.name), "\(path): \(all.text)")
                }
                // A request for the other tenant's rows by name reveals neither content nor existence.
                for (path, _) in Self.reads(theirs) where path.contains("?") || path.hasPrefix("/ops/validations/") {
                    let answer = try await setup.relay.ops(path, key: mine.viewer)
                    #expect(!answer.text.contains(theirs.name), "\(path): \(answer.text)")
                }
                for path in ["validations/\(theirs.first)", "notifications/\(theirs.notification)"] {
                    #expect(try await setup.relay.ops("/ops/\(path)", key: mine.viewer).status == 404, "\(path)")
                }
                let summary = try await setup.relay.ops("/ops/summary", key: mine.viewer).json
                #expect(summary["countsByStatus"]["granted"].int == 1 && summary["countsByStatus"]["pending"].int == 1)
                #expect(summary["backlog"]["watching"].int == 1)
            }
            let both = try await setup.relay.ops("/ops/summary").json
            #expect(both["countsByStatus"]["granted"].int == 2)
        }
    }

    @Test func theConsoleShowsOnePublisher() async throws {
        try await Self.run { setup, alpha, omega in
            for (mine, theirs) in [(alpha, omega), (omega, alpha)] {
                var visit = ConsoleVisit(setup.relay)
                let signed = try await visit.signIn(mine.operator)
                #expect(signed.status == 303)
                for (path, shows) in Self.pages(mine) {
                    let page = try await visit.get(path)
                    #expect(page.status == 200 && !page.text.contains(theirs.name), "\(path): \(page.text)")
                    #expect(!shows || page.text.contains(mine.name), "\(path): \(page.text)")
                }
                for path in Self.pages(theirs).map(\.path) where path.contains("?") && !path.contains("publisher=") {
                    let page = try await visit.get(path)
                    // A form may repeat the search text; a row would have a link.
                    #expect(!page.text.contains("/console/validations/\(theirs.first)"), "\(path): \(page.text)")
                    #expect(!page.text.contains("/console/validations/\(theirs.second)"), "\(path): \(page.text)")
                }
                #expect(try await visit.get("/console/validations/\(theirs.first)").status == 404)
                let search = try await visit.get("/console/search?q=\(theirs.first)")
                #expect(search.header("Location")?.hasPrefix("/console/validations/\(theirs.first)") != true)
            }
        }
    }

    @Test func actsChangeOnePublisher() async throws {
        try await Self.run { setup, alpha, omega in
            let relay = setup.relay
            for path in ["validations/\(omega.open)/retry", "validations/\(omega.open)/abandon"] {
                #expect(try await relay.opsPost("/ops/\(path)", key: alpha.operator).status == 404, "\(path)")
            }
            for path in ["notifications/\(omega.notification)/replay", "webhooks/\(omega.delivery)/replay"] {
                #expect(try await relay.opsPost("/ops/\(path)", key: alpha.operator).status == 404, "\(path)")
            }
            let before = try await relay.ops("/ops/validations/\(omega.open)").json
            #expect(before["status"].string == "pending" && before["timeline"].array?.isEmpty == false)
            #expect(!(try await relay.events(omega.open)).contains("retried"))
            // A range contains only the tenant's own rows.
            let range = try await HTTP.post(
                relay.opsURL + "/ops/validations/replay",
                headers: ["Authorization": "Bearer \(alpha.operator)", "Content-Type": "application/json"],
                body: Data(#"{"reason":"a test","status":"pending"}"#.utf8))
            #expect(range.status == 202 && range.json["matched"].int == 1, "\(range.text)")
            #expect(try await relay.events(alpha.open).contains("retried"))
            #expect(!(try await relay.events(omega.open)).contains("retried"))

            var visit = ConsoleVisit(relay)
            try await visit.signIn(alpha.operator)
            let token = try await visit.formToken()
            func act(_ path: String, _ more: [String: String] = [:]) async throws -> HTTP.Answer {
                try await visit.post(path, ["token": token, "reason": "a test"].merging(more) { $1 })
            }
            let resync = Data("\(omega.name)\nana@\(omega.name).test".utf8).map { String(format: "%02x", $0) }.joined()
            let key = try #require(omega.app.split(separator: "_").dropFirst(2).first.map(String.init))
            for path in [
                "validations/\(omega.open)/retry", "validations/\(omega.open)/abandon",
                "notifications/\(omega.notification)/replay", "webhooks/\(omega.delivery)/replay",
                "endpoints/\(omega.endpoint)/enable", "customers/\(resync)/resync", "keys/\(key)/revoke",
            ] { #expect(try await act("/console/\(path)").status == 404, "\(path)") }
            // Impossible while a worker sends the retried purchase.
            try await Awaiting.fact("one of the two is abandoned") {
                try await act("/console/selected", ["action": "abandon", "ids": "\(omega.open),\(alpha.open)"]).text
            } holds: {
                $0.contains("1 of 2 done")
            }
            #expect(try await relay.poll(omega.open, key: omega.app).json["status"].string == "pending")
            #expect(try await relay.poll(alpha.open, key: alpha.app).json["status"].string == "rejected")
            // The tenant's own row can be replayed.
            #expect(
                try await relay.opsPost("/ops/webhooks/\(alpha.delivery)/replay", key: alpha.operator).status == 202)
            #expect(
                try await relay.opsPost("/ops/notifications/\(alpha.notification)/replay", key: alpha.operator).status
                    == 202)
            let mine = try await visit.get("/console/audit").text
            #expect(mine.contains("validation.abandon") && mine.contains("webhook.replay"))
        }
    }
}

/// The App Store's notification of a renewal.
private struct SimulatedTestNotice {
    var original: String
    var bundle = "com.example.app"

    init(original: String) { self.original = original }

    func body(signedBy store: TestAppStore) throws -> Data {
        let now = Int(Date().timeIntervalSince1970 * 1_000)
        let transaction = try store.transactions.sign(
            json: Data(
                """
                {"transactionId":"\(original)9","originalTransactionId":"\(original)","bundleId":"\(bundle)",\
                "productId":"com.example.month","environment":"Sandbox","type":"Auto-Renewable Subscription",\
                "purchaseDate":\(now),"originalPurchaseDate":\(now),"expiresDate":\(now + 2_592_000_000),\
                "signedDate":\(now)}
                """.utf8))
        let payload = try store.transactions.sign(
            json: Data(
                """
                {"notificationType":"DID_RENEW","notificationUUID":"\(UUID().uuidString.lowercased())","version":"2.0",\
                "signedDate":\(now),"data":{"bundleId":"\(bundle)","environment":"Sandbox",\
                "signedTransactionInfo":"\(transaction)"}}
                """.utf8))
        return Data("{\"signedPayload\":\"\(payload)\"}".utf8)
    }
}
