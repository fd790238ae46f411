import Foundation
import Testing

/// Polls of settled purchases are answered from the cache, and the answers differ only in speed.
@Suite struct SettledPollTests {
    /// Polls until the answer comes from the cache; the first polls fill it.
    private func warm(_ connection: PlainConnection, _ path: String, _ headers: [String: String]) async throws {
        for _ in 0..<3 { _ = try await connection.get(path, headers: headers) }
    }

    @Test func theAnswerFromMemoryIsTheOneFromTheDatabase() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            let id = try await relay.pursue("ana@example.test")
            _ = try await relay.becomes("granted", id)
            let connection = try PlainConnection(to: relay.url)
            let headers = ["Authorization": "Bearer \(relay.keys.app)"]
            try await warm(connection, "/entitlements/\(id)", headers)
            let quick = try await connection.get("/entitlements/\(id)", headers: headers)
            // A query without meaning bypasses the cache.
            let long = try await connection.get("/entitlements/\(id)?x=1", headers: headers)
            #expect(quick.status == 200)
            #expect(quick.body == long.body)
            func fields(_ answer: PlainConnection.Answer) -> [String] {
                answer.head.split(separator: "\r\n").map(String.init)
                    .filter { !$0.hasPrefix("X-Request-Id:") && !$0.hasPrefix("Date:") }.sorted()
            }
            #expect(fields(quick) == fields(long))
            #expect(quick.head.contains("X-Request-Id: ") && quick.head.contains("Date: "))
            let tag = try #require(
                quick.head.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") }?.dropFirst(6))
            let unchanged = try await connection.get(
                "/entitlements/\(id)", headers: headers.merging(["If-None-Match": String(tag)]) { $1 })
            #expect(unchanged.status == 304)
            #expect(unchanged.body.isEmpty)
            try await connection.send("/entitlements/\(id)", method: "HEAD", headers: headers)
            #expect(fields(try await connection.head()) == fields(quick))
            let closing = try await PlainConnection(to: relay.url).get(
                "/entitlements/\(id)", headers: headers.merging(["Connection": "close"]) { $1 })
            #expect(closing.body == quick.body && fields(closing) == (fields(quick) + ["Connection: close"]).sorted())
            let named = try await connection.get(
                "/entitlements/\(id)", headers: headers.merging(["X-Request-Id": "mine-1"]) { $1 })
            #expect(named.head.contains("X-Request-Id: mine-1"))
        }
    }

    /// Customer tokens, limits and traces also apply to an answer from the cache: one request counts once.
    @Test func tokensLimitsAndTracesApplyToCachedAnswers() async throws {
        let issuer = CustomerTokenIssuer()
        let folder = try ScratchFolder()
        defer { folder.remove() }
        let settings = [
            "RELAY_CUSTOMER_JWKS_FILE": try folder.write("jwks.json", issuer.jwks), "RELAY_LOG_LEVEL": "debug",
            "RELAY_RATE_LIMIT_PER_KEY": "0.01:12", "RELAY_RATE_LIMIT_PER_ADDRESS": "0.01:100",
        ]
        try await Setup.run(settings: settings) { setup in
            let relay = setup.relay
            let good = try issuer.token(email: "ana@example.test")
            let posted = try await relay.purchase(
                TestPurchase(email: "ana@example.test"), headers: ["X-Customer-Token": good])
            let id = try #require(posted.json["validationId"].string)
            try await Awaiting.fact("it is granted", is: "granted") { try await relay.detail(id)["status"].string }
            let connection = try PlainConnection(to: relay.url)
            let trace = "0af7651916cd43dd8448eb211c80319c"
            func ask(_ path: String, token: String? = good, _ more: [String: String] = [:]) async throws
                -> PlainConnection.Answer
            {
                var headers = [
                    "Authorization": "Bearer \(relay.keys.app)", "X-Request-Id": "mine",
                    "traceparent": "00-\(trace)-b7ad6b7169203331-01",
                ]
                headers["X-Customer-Token"] = token
                return try await connection.get(path, headers: headers.merging(more) { $1 })
            }
            func fields(_ answer: PlainConnection.Answer, without: [String] = []) -> [String] {
                answer.head.split(separator: "\r\n").map(String.init)
                    .filter { line in !(["Date:"] + without).contains { line.hasPrefix($0) } }.sorted()
            }
            func remaining(_ answer: PlainConnection.Answer) -> [Int] {
                (answer.head.split(separator: "\r\n").first { $0.hasPrefix("RateLimit: ") } ?? "")
                    .split(separator: ";").compactMap { $0.hasPrefix("r=") ? Int($0.dropFirst(2)) : nil }
            }
            let path = "/entitlements/\(id)"
            for _ in 0..<3 { _ = try await ask(path) }
            let quick = try await ask(path)
            let long = try await ask(path + "?x=1")
            #expect(quick.status == 200 && quick.body == long.body)
            #expect(fields(quick, without: ["RateLimit:"]) == fields(long, without: ["RateLimit:"]))
            // The purchase and three polls have counted before.
            #expect(remaining(quick) == [95, 7] && remaining(long) == [94, 6])
            try await Awaiting.fact("both are in the log, with their trace", is: 5) {
                relay.process.output.filter {
                    $0.contains(#""message":"request""#) && $0.contains(#""trace_id":"\#(trace)""#)
                        && $0.contains(#""route":"/entitlements/{id}""#) && $0.contains(id)
                }.count
            }
            let requests = #"http_server_requests_total{method="GET",route="/entitlements/{id}",status="2xx"} 5"#
            #expect(try await relay.metrics().contains(requests))
            // Another customer's token, or none, reveals nothing, and each such request counts.
            let bea = try issuer.token(email: "bea@example.test")
            #expect(try await ask(path, token: bea).status == 403)
            #expect(try await ask(path, token: bea).status == 403)
            #expect(try await ask(path, token: nil).status == 401)
            for left in [2, 1, 0] { #expect(remaining(try await ask(path)).last == left) }
            let refused = try await ask(path)
            #expect(refused.status == 429 && remaining(refused) == [87, 0])
            #expect(remaining(try await ask(path)) == [86, 0], "a refused request counts once by its address")
        }
    }

    @Test func answersGoOutInTheOrderOfTheirRequests() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            let settled = try await relay.pursue("ana@example.test")
            _ = try await relay.becomes("granted", settled)
            let pending = try await relay.pursue("ben+never@example.test")
            let connection = try PlainConnection(to: relay.url)
            let headers = ["Authorization": "Bearer \(relay.keys.app)"]
            try await warm(connection, "/entitlements/\(settled)", headers)
            // The held poll delays the next answer, which could be sent at once.
            try await connection.send(
                "/entitlements/\(pending)", headers: headers.merging(["Prefer": "wait=1"]) { $1 })
            try await connection.send("/entitlements/\(settled)", headers: headers)
            let first = try await connection.answer()
            #expect(first.json["validationId"].string == pending, "\(first.head)")
            let second = try await connection.answer()
            #expect(second.json["validationId"].string == settled)
        }
    }

    @Test func theCacheGivesOtherKeysNoAccess() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            let id = try await relay.pursue("ana@example.test")
            _ = try await relay.becomes("granted", id)
            let other = try await Relay.makeKey("app", setup.database, app: "com.example.other")
            let connection = try PlainConnection(to: relay.url)
            try await warm(connection, "/entitlements/\(id)", ["Authorization": "Bearer \(relay.keys.app)"])
            for (key, status) in [(other, 404), (relay.keys.viewer, 403), ("rr_nobody", 401), (relay.keys.app, 200)] {
                let answer = try await connection.get(
                    "/entitlements/\(id)", headers: ["Authorization": "Bearer \(key)"])
                #expect(answer.status == status)
            }
            #expect(try await connection.get("/entitlements/\(id)").status == 401)
        }
    }

    @Test func bothCopiesReportATransferAndNeverUndoIt() async throws {
        try await Setup.run { setup in
            let here = setup.relay
            let there = try await Relay.start(
                database: setup.database, simulator: setup.simulator, role: "front", keys: here.keys)
            let original = TestPurchase.newTransactionID()
            let id = try await here.pursue("ana@example.test", original: original)
            _ = try await here.becomes("granted", id)
            for relay in [here, there] { for _ in 0..<3 { _ = try await relay.poll(id) } }
            _ = try await here.becomes("granted", try await here.pursue("ben@example.test", original: original))
            // The copy whose worker wrote the change knows it at once.
            #expect(try await here.poll(id).json["status"].string == "transferred")
            _ = try await Awaiting.fact("the other copy tells it too", is: "transferred") {
                try await there.poll(id).json["status"].string
            }
            for relay in [here, there] {
                for _ in 0..<20 { #expect(try await relay.poll(id).json["status"].string == "transferred") }
            }
            await there.end()
        }
    }
}
