import AppStoreSimulation
import Foundation
import TestRun
import Testing

/// A publisher's reads of its customers, in the form of Fovea's clients.
@Suite struct PurchasesTests {
    private static let product = "apple:com.example.app.monthly"

    @Test func aGrantedPurchaseIsListedForItsUsernameWithTheseFields() async throws {
        try await PublisherScene.run { scene in
            let now = Date()
            scene.life.bought(at: now)
            try await scene.buy("ana@example.test", username: "u-77")
            let answer = try await scene.get("/v2/customers/u-77/purchases")
            #expect(answer.status == 200)
            #expect(answer.header("Content-Type")?.hasPrefix("application/json") == true)
            let body = try #require(answer.json.object)
            #expect(Set(body.keys) == ["applicationUsername", "purchases"])
            #expect(answer.json["applicationUsername"].string == "u-77")
            let purchases = try #require(answer.json["purchases"].object)
            #expect(Array(purchases.keys) == [Self.product])
            let purchase = try #require(purchases[Self.product])
            let id = "apple:\(scene.life.originalTransactionId)"
            #expect(purchase["productId"].string == Self.product && purchase["purchaseId"].string == id)
            #expect(purchase["transactionId"].string == "apple:\(scene.life.transaction.transactionId)")
            #expect(purchase["platform"].string == "apple" && purchase["sandbox"].bool == true)
            #expect(purchase["isExpired"].bool == false)
            for name in ["purchaseDate", "expirationDate"] {
                let text = try #require(purchase[name].string)
                #expect(text.wholeMatch(of: /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z/) != nil, "\(name): \(text)")
            }
            let known: Set = [
                "productId", "purchaseId", "transactionId", "platform", "sandbox", "purchaseDate", "expirationDate",
                "isExpired", "renewalIntent", "renewalIntentChangeDate", "cancelationReason", "isBillingRetryPeriod",
                "isTrialPeriod", "isIntroPeriod", "discountId", "priceConsentStatus",
            ]
            #expect(Set(try #require(purchase.object).keys).isSubset(of: known))
            // One client searches the text.
            #expect(answer.text.contains(#""isExpired":false"#))
        }
    }

    @Test func changesAreVisibleAtOnce() async throws {
        try await PublisherScene.run { scene in
            scene.life.bought(at: Date())
            try await scene.buy("ana@example.test")
            #expect(try await scene.purchases("ana@example.test")[Self.product]["renewalIntent"].string == nil)
            try await scene.tell(scene.life.renewalTurned(.off, at: Date()))
            var purchase = try await scene.purchases("ana@example.test")[Self.product]
            #expect(purchase["renewalIntent"].string == "Lapse" && purchase["cancelationReason"].string == "Customer")
            #expect(purchase["renewalIntentChangeDate"].string != nil && purchase["isExpired"].bool == false)
            try await scene.tell(scene.life.renewalTurned(.on, at: Date()))
            purchase = try await scene.purchases("ana@example.test")[Self.product]
            #expect(purchase["renewalIntent"].string == "Renew" && purchase["cancelationReason"].string == nil)
            let end = purchase["expirationDate"].string
            try await scene.tell(scene.life.renewed(at: Date()))
            purchase = try await scene.purchases("ana@example.test")[Self.product]
            #expect(purchase["expirationDate"].string != end)
            #expect(purchase["transactionId"].string == "apple:\(scene.life.transaction.transactionId)")
        }
    }

    @Test func aTransferredSubscriptionIsListedForItsNewOwnerOnly() async throws {
        try await PublisherScene.run { scene in
            scene.life.bought(at: Date())
            try await scene.buy("ana@example.test", username: "ana-1")
            #expect(try await scene.purchases("ana-1").object?.count == 1)
            try await scene.buy("ben@example.test", username: "ben-1")
            #expect(try await scene.purchases("ana-1").object?.count == 0)
            #expect(try await scene.purchases("ben-1").object?.count == 1)
            // The same customer with another name at the publisher.
            try await scene.buy("ben@example.test", username: "ben-2")
        }
    }

    private static let names = [
        "a/b +?&#50%25", "👩‍👩‍👧", "a b", "a/b", "100%", "50%25", "ünïcode", "+?&#", "purchases",
        String(repeating: "ж", count: 300),
    ]

    @Test(arguments: TestRun.all(names, otherwise: 2))
    func anyNameIsReturnedUnchanged(username: String) async throws {
        try await PublisherScene.run { scene in
            scene.life.bought(at: Date())
            try await scene.buy("ana@example.test", username: username)
            #expect(try await scene.purchases(username).object?.count == 1)
        }
    }

    /// The npm client sends the name without encoding.
    @Test(.whole) func anUnencodedNameIsAccepted() async throws {
        try await PublisherScene.run { scene in
            scene.life.bought(at: Date())
            for username in ["a/b", "a//b", "100%", "ana@example.test", "it's(1)", "x/purchases"] {
                let answer = try await PlainConnection(to: scene.relay.url).get(
                    "/v2/customers/\(username)/purchases",
                    headers: ["Authorization": "Basic " + PublisherScene.base64("main:\(scene.key)")])
                #expect(answer.status == 200, "\(username)")
                #expect(answer.json["applicationUsername"].string == username)
                #expect(String(decoding: answer.body, as: UTF8.self).hasSuffix(#""purchases":{}}"#))
            }
        }
    }

    @Test func onlyTheThreeKindsOfCredentialsAreAccepted() async throws {
        try await PublisherScene.run { scene in
            let path = scene.relay.url + "/v2/customers/u/purchases"
            let pair = "main:\(scene.key)"
            for authorization in [
                "Basic " + PublisherScene.base64(pair), "Bearer " + PublisherScene.base64(pair), "bearer " + pair,
            ] {
                #expect(try await HTTP.get(path, headers: ["Authorization": authorization]).status == 200)
            }
            #expect(try await HTTP.get(path + "?appName=main&apiKey=\(scene.key)").status == 200)
            for (headers, query) in [
                ([:], ""), ([:], "?appName=main"), ([:], "?appName=other&apiKey=\(scene.key)"),
                (["Authorization": "Basic " + PublisherScene.base64("other:\(scene.key)")], ""),
                (["Authorization": "Basic " + PublisherScene.base64(":")], ""), (["Authorization": "Basic ***"], ""),
                (["Authorization": "Digest x"], ""),
            ] {
                let answer = try await HTTP.get(path + query, headers: headers)
                #expect(answer.status == 401 && answer.header("WWW-Authenticate")?.hasPrefix("Basic") == true)
                let body = try #require(answer.json.object)
                #expect(Set(body.keys) == ["ok", "status", "code", "message"])
                #expect(answer.json["ok"].bool == false && answer.json["status"].int == 401)
                #expect(answer.json["code"].string == "InvalidCredentials")
                #expect(answer.json["message"].string?.hasPrefix("Error: ") == true)
            }
            let forbidden = try await scene.get("/v2/customers/u/purchases", key: scene.relay.keys.app)
            #expect(forbidden.status == 403 && forbidden.json["code"].string == "Forbidden")
        }
    }

    @Test func anotherPublishersCustomersAreUnknown() async throws {
        try await PublisherScene.run { scene in
            scene.life.bought(at: Date())
            try await scene.buy("ana@example.test", username: "u-1")
            let other = try await Relay.makeKey("publisher", scene.setup.database, publisher: "other")
            let answer = try await scene.get("/v2/customers/u-1/purchases", publisher: "other", key: other)
            #expect(answer.text == #"{"applicationUsername":"u-1","purchases":{}}"#)
            #expect(
                try await scene.get("/v2/customers/", publisher: "other", key: other).json["paging"]["total"].int == 0)
            #expect(try await scene.get("/v2/customers/u-1/purchases", publisher: "main", key: other).status == 401)
        }
    }

    @Test func manyAreReadAtOnceByNameOrPageByPage() async throws {
        try await PublisherScene.run { scene in
            for username in ["bob kal", "a,b", "zoe"] {
                scene.life = try scene.store.subscription()
                scene.life.bought(at: Date())
                try await scene.buy("x-\(username.utf8.count)@example.test", username: username)
            }
            let all = try await scene.get("/v2/customers/?limit=2&skip=1")
            #expect(all.status == 200)
            #expect(all.json["paging"]["skip"].int == 1 && all.json["paging"]["limit"].int == 2)
            #expect(all.json["paging"]["total"].int == 3)
            #expect(all.json["rows"].array?.map { $0["applicationUsername"].string } == ["bob kal", "zoe"])
            // Each name encoded by itself, then all together, and without the slash.
            let named = try await scene.get("/v2/customers?applicationUsername=bob%2520kal%2Ca%252Cb%2Cnobody")
            let rows = try #require(named.json["rows"].array)
            #expect(rows.map { $0["applicationUsername"].string } == ["bob kal", "a,b", "nobody"])
            #expect(rows[0]["customerInfo"]["activeSubscriber"].bool == true)
            #expect(rows[0]["receiptIds"].array?.count == 1)
            #expect(rows[2]["customerInfo"].object?.isEmpty == true && rows[2]["receiptIds"].array?.isEmpty == true)
            for query in [
                "limit=0", "limit=1001", "limit=x", "limit=+5", "skip=-1", "skip=1e3",
                "applicationUsername=zoe&limit=x",
            ] {
                let answer = try await scene.get("/v2/customers/?\(query)")
                #expect(answer.status == 400 && answer.json["code"].string == "InvalidPayload", "\(query)")
            }
        }
    }

    @Test(.whole) func unknownPathsGetErrorsInTheSameForm() async throws {
        try await PublisherScene.run { scene in
            for (path, status, code) in [
                ("/v2/customers/u", 404, "NotFound"), ("/v2/customers/u/other", 404, "NotFound"),
                ("/v2/customers//purchases", 404, "NotFound"),
                ("/v2/customers/\(String(repeating: "x", count: 513))/purchases", 400, "InvalidPayload"),
                ("/v2/customers/a%00b/purchases", 400, "InvalidPayload"),
            ] {
                let answer = try await scene.get(path)
                #expect(answer.status == status && answer.json["code"].string == code, "\(path): \(answer.text)")
            }
            let posted = try await HTTP.post(scene.relay.url + "/v2/customers/u/purchases", body: Data())
            #expect(posted.status == 405 && posted.json["code"].string == "MethodNotAllowed")
            #expect(posted.header("Allow")?.contains("GET") == true)
        }
    }

    @Test func cachedAnswersEqualTheRoutesAndNeedTheSameKey() async throws {
        try await PublisherScene.run { scene in
            scene.life.bought(at: Date())
            try await scene.buy("ana@example.test", username: "a b")
            let connection = try PlainConnection(to: scene.relay.url)
            let path = "/v2/customers/a%20b/purchases"
            func headers(_ publisher: String, _ key: String) -> [String: String] {
                ["Authorization": "Basic " + PublisherScene.base64("\(publisher):\(key)")]
            }
            let mine = headers("main", scene.key)
            for _ in 0..<3 { _ = try await connection.get(path, headers: mine) }
            let quick = try await connection.get(path, headers: mine.merging(["X-Request-Id": "mine-1"]) { $1 })
            // A query without meaning bypasses the cache.
            let long = try await connection.get(
                path + "?x=1", headers: mine.merging(["X-Request-Id": "mine-1"]) { $1 })
            #expect(quick.status == 200 && quick.body == long.body)
            #expect(quick.json["purchases"].object?.count == 1)
            func fields(_ answer: PlainConnection.Answer) -> [String] {
                answer.head.split(separator: "\r\n").map(String.init).filter { !$0.hasPrefix("Date:") }.sorted()
            }
            #expect(fields(quick) == fields(long))
            let other = try await Relay.makeKey("publisher", scene.setup.database, publisher: "other")
            for (publisher, key, status) in [
                ("main", other, 401), ("other", scene.key, 401), ("main", scene.relay.keys.app, 403),
                ("main", "rr_nobody", 401), ("main", scene.key, 200),
            ] {
                #expect(try await connection.get(path, headers: headers(publisher, key)).status == status)
            }
            #expect(try await connection.get(path).status == 401)
            let theirs = try await connection.get(path, headers: headers("other", other))
            #expect(theirs.status == 200 && theirs.json["purchases"].object?.isEmpty == true)
        }
    }

    /// A copy reports another copy's change within a second, although it caches earlier answers.
    @Test func anotherCopySeesAChange() async throws {
        try await PublisherScene.run { scene in
            scene.life.bought(at: Date())
            try await scene.buy("ana@example.test")
            let other = try await Relay.start(
                database: scene.setup.database, simulator: scene.setup.simulator, role: "front", keys: scene.relay.keys,
                settings: scene.store.settings(relayingTo: nil))
            func intent() async throws -> String? {
                try await HTTP.get(
                    other.url + "/v2/customers/ana@example.test/purchases?appName=main&apiKey=\(scene.key)"
                ).json["purchases"][Self.product]["renewalIntent"].string
            }
            #expect(try await intent() == nil)
            try await scene.tell(scene.life.renewalTurned(.off, at: Date()))
            _ = try await Awaiting.fact("the other copy tells it", is: "Lapse") { try await intent() }
            await other.end()
        }
    }
}
