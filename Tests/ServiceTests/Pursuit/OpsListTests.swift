import Foundation
import Testing

/// The lists of the ops API, and their filters.
@Suite struct OpsListTests {
    @Test func theListIsFilteredAndPaged() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            func ids(_ query: String) async throws -> [String] {
                let answer = try await relay.ops("/ops/validations?\(query)")
                #expect(answer.status == 200, "\(query)")
                #expect(answer.json.keys == ["items", "nextCursor"])
                return answer.json["items"].array?.compactMap { $0["validationId"].string } ?? []
            }
            let granted = try await relay.pursue("Ana@example.test")
            _ = try await relay.becomes("granted", granted)
            let rejected = try await relay.pursue("rea+reject@example.test")
            _ = try await relay.becomes("rejected", rejected)
            let pending = try await relay.pursue("ana+never@example.test", offer: "S598742062_US")
            let waiting = try await relay.pursue("nea+never@example.test")
            let all = [waiting, pending, rejected, granted]

            #expect(try await ids("") == all)
            #expect(try await ids("status=granted") == [granted])
            #expect(try await ids("status=rejected") == [rejected])
            #expect(try await ids("customerEmail=%20aNA@example.test") == [granted])
            #expect(try await ids("offerId=S598742062_US") == [pending])
            #expect(try await ids("offerId=S598742062_US&status=granted") == [])
            #expect(try await ids("olderThanSeconds=3600") == [])
            #expect(try await ids("olderThanSeconds=0") == all)

            var paged: [String] = []
            var cursor: String?
            repeat {
                let page = try await relay.ops("/ops/validations?limit=1" + (cursor.map { "&cursor=\($0)" } ?? "")).json
                #expect(page["items"].array?.count == 1)
                paged += page["items"].array?.compactMap { $0["validationId"].string } ?? []
                cursor = page["nextCursor"].string
                // A new purchase does not shift the pages.
                if paged.count == 1 { _ = try await relay.pursue("zoe+never@example.test") }
            } while cursor != nil && paged.count < 10
            #expect(paged == all)
            let item = try await relay.ops("/ops/validations?limit=1&status=granted").json["items"][0]
            #expect(item["customerEmail"].string == "Ana@example.test")
            #expect(item["accessGranted"].bool == true)

            for bad in [
                "status=lost", "olderThanSeconds=-1", "limit=0", "limit=x", "cursor=next", "customerEmail=x",
                "statsu=granted",
            ] {
                let answer = try await relay.ops("/ops/validations?\(bad)")
                #expect(answer.status == 422, "\(bad)")
                #expect(answer.json["errors"][0]["field"].string == bad.split(separator: "=").first.map(String.init))
            }
            #expect(try await relay.ops("/ops/validations", key: relay.keys.app).status == 403)
            #expect(try await relay.ops("/ops/validations", key: relay.keys.operator).status == 200)
            #expect(try await HTTP.get(relay.opsURL + "/ops/validations").status == 401)
            // Each front has only its own routes.
            #expect(try await HTTP.get(relay.url + "/ops/validations").status == 404)
            #expect(try await HTTP.get(relay.url + "/metrics").status == 404)
        }
    }

    @Test func theDetailHoldsAllThatIsKnown() async throws {
        try await Setup.run(settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]) { setup in
            let relay = setup.relay
            var purchase = TestPurchase(
                email: "Ana+flaky-1@example.test", original: "2000000111111111", transactionID: "2000000222222222")
            purchase.extra = ["couponCode": "SPRING", "appType": "tvos", "applicationUsername": "user-7"]
            let id = try await relay.pursue(purchase)
            let poll = try await relay.becomes("granted", id)
            let answer = try await relay.ops("/ops/validations/\(id)")
            #expect(answer.status == 200)
            let detail = answer.json
            for key in poll.keys { #expect(detail[key] == poll[key], "\(key)") }
            #expect(
                detail.keys.isSuperset(
                    of: poll.keys.union([
                        "customerEmail", "appType", "couponCode", "originalTransactionId", "receiptReadable",
                        "verification",
                        "entitledBefore", "attempts", "evidence", "transfer", "timeline",
                    ])))
            #expect(detail["customerEmail"].string == "Ana+flaky-1@example.test")
            #expect(detail["appType"].string == "tvos")
            #expect(detail["couponCode"].string == "SPRING")
            #expect(detail["originalTransactionId"].string == "2000000111111111")
            #expect(detail["receiptReadable"].bool == true)
            #expect(detail["verification"].keys == ["result", "code", "detail"])
            #expect(
                ["genuine", "not_genuine", "not_checked"].contains(detail["verification"]["result"].string ?? ""))
            #expect(detail["entitledBefore"].bool == false)
            #expect(detail["attempts"].int == 2)
            #expect(detail["evidence"]["status"].string == "active")
            #expect(detail["transfer"].isNull)
            // No answer contains the receipt itself.
            #expect(!answer.text.contains(purchase.receipt))

            let timeline = try #require(detail["timeline"].array)
            #expect(
                timeline.allSatisfy { $0.keys == ["at", "event", "upstreamStatus", "latencyMs", "instance", "detail"] })
            let events = timeline.compactMap { $0["event"].string }
            #expect(
                events.filter { $0 != "entitlement_read" }
                    == ["accepted", "baseline_read", "forward_failed", "forwarded", "granted"])
            #expect(events.suffix(2) == ["entitlement_read", "granted"])
            let times = timeline.compactMap { $0["at"].string.flatMap(Date.init(milliseconds:)) }
            #expect(times.count == timeline.count)
            #expect(times == times.sorted())
            #expect(timeline[0]["at"] == poll["receivedAt"])
            let failed = try #require(timeline.first { $0["event"].string == "forward_failed" })
            #expect(failed["upstreamStatus"].int == 500)
            #expect(failed["latencyMs"].int.map { $0 >= 0 } == true)
            #expect(failed["instance"].string?.isEmpty == false)
            #expect(failed["detail"].string?.isEmpty == false)

            #expect(try await relay.ops("/ops/validations/\(id)", key: relay.keys.app).status == 403)
            let unknown = try await relay.ops("/ops/validations/nothing")
            #expect(unknown.status == 404)
            #expect(unknown.json["code"].string == "unknown_validation")
        }
    }

    @Test func theSummaryShowsCountsAndBacklog() async throws {
        try await Setup.run(settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]) { setup in
            let relay = setup.relay
            let empty = try await relay.ops("/ops/summary").json
            #expect(empty.keys == ["countsByStatus", "oldestPendingSeconds", "upstream", "backlog", "stores"])
            #expect(empty["stores"].array?.isEmpty == true)
            #expect(
                empty["countsByStatus"].keys
                    == ["pending", "granted", "rejected", "timed_out", "transferred", "revoked"])
            #expect(empty["oldestPendingSeconds"].isNull)
            #expect(empty["upstream"].keys == ["state", "since", "lastError"])
            let original = TestPurchase.newTransactionID()
            _ = try await relay.becomes("granted", relay.pursue("ana@example.test", original: original))
            _ = try await relay.becomes("granted", relay.pursue("bea@example.test", original: original))
            _ = try await relay.becomes("rejected", relay.pursue("rea+reject@example.test"))
            _ = try await relay.pursue("nea+never@example.test")
            let full = try await Awaiting.fact("one has waited for a second") {
                try await relay.ops("/ops/summary").json
            } holds: {
                ($0["oldestPendingSeconds"].int ?? 0) >= 1
            }
            let counts = full["countsByStatus"]
            #expect(counts["pending"].int == 1 && counts["granted"].int == 1 && counts["transferred"].int == 1)
            #expect(counts["rejected"].int == 1 && counts["timed_out"].int == 0 && counts["revoked"].int == 0)
            #expect(full["backlog"]["watching"].int == 1)

            try await SimulatorControl(setup.simulator).trouble("down")
            _ = try await relay.pursue("dia@example.test")
            try await Awaiting.fact("upstream is seen to be down", is: "down") {
                try await relay.ops("/ops/summary").json["upstream"]["state"].string
            }
            #expect(try await relay.ops("/ops/summary", key: relay.keys.app).status == 403)
        }
    }
}
