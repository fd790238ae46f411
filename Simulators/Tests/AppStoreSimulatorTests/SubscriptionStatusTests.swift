import Foundation
import NIOHTTP1
import TestRun
import Testing

@testable import AppStoreSimulator

@Suite("How a subscription stands, asked of the App Store Server API", .timeLimit(.paced(minutes: 4)))
struct SubscriptionStatusTests {
    @Test func littleIsEnough() async throws {
        try await APIBench.serving { bench in
            try await bench.put("2000000700000001")
            let answer = try await bench.statuses("2000000700000001")
            #expect(answer.status == 200)
            #expect(Set(answer.json.keys) == ["environment", "bundleId", "data"])
            #expect(answer.json["environment"] as? String == "Sandbox")
            #expect(answer.json["bundleId"] as? String == "com.example.app")
            let group = try #require((answer.json["data"] as? [[String: Any]])?.first)
            #expect(group["subscriptionGroupIdentifier"] as? String == "21000001")
            let item = try #require(answer.items.first)
            #expect(answer.items.count == 1)
            #expect(item["originalTransactionId"] as? String == "2000000700000001")
            #expect(item["status"] as? Int == 1)
            let transaction = Answer.payload(item["signedTransactionInfo"])
            #expect(transaction["transactionId"] as? String == "2000000700000001")
            #expect(transaction["productId"] as? String == "com.example.app.monthly")
            #expect(transaction["environment"] as? String == "Sandbox")
            #expect(transaction["expiresDate"] as? Int64 == bench.time.milliseconds(100))
            #expect(transaction["purchaseDate"] as? Int64 == bench.time.milliseconds(100 - 30 * 86_400))
            #expect(transaction["signedDate"] as? Int64 == bench.time.milliseconds())
            let renewal = Answer.payload(item["signedRenewalInfo"])
            #expect(renewal["autoRenewStatus"] as? Int == 1)
            #expect(renewal["autoRenewProductId"] as? String == "com.example.app.monthly")
            for part in ["signedTransactionInfo", "signedRenewalInfo"] {
                #expect(try await isGenuine(try #require(item[part] as? String), by: APIBench.authority.get()))
            }
        }
    }

    @Test func allThatCanBeSaidIsSigned() async throws {
        try await APIBench.serving(appAppleId: 42) { bench in
            let more = #"""
                ,"transactionId":"12","autoRenewStatus":0,"autoRenewProductId":"year","expirationIntent":1,
                "revocationDate":1795000000000,"revocationReason":1,"revocationType":"REFUND_PRORATED",
                "purchaseDate":1794000000000,"originalPurchaseDate":1793000000000,"appAccountToken":"token",
                "inAppOwnershipType":"FAMILY_SHARED","transactionReason":"RENEWAL","storefront":"POL",
                "isUpgraded":true,"previousOriginalTransactionId":"5","webOrderLineItemId":"6",
                "priceIncreaseStatus":1,"subscriptionGroupIdentifier":"7"
                """#
            try await bench.put("1", more)
            let answer = try await bench.statuses("1")
            #expect(answer.json["appAppleId"] as? Int == 42)
            #expect((answer.json["data"] as? [[String: Any]])?.first?["subscriptionGroupIdentifier"] as? String == "7")
            let item = try #require(answer.items.first)
            #expect(item["status"] as? Int == 5)
            let transaction = Answer.payload(item["signedTransactionInfo"])
            for (name, text) in [
                ("transactionId", "12"), ("originalTransactionId", "1"), ("revocationType", "REFUND_PRORATED"),
                ("appAccountToken", "token"), ("inAppOwnershipType", "FAMILY_SHARED"), ("transactionReason", "RENEWAL"),
                ("storefront", "POL"), ("previousOriginalTransactionId", "5"), ("webOrderLineItemId", "6"),
            ] {
                #expect(transaction[name] as? String == text, "\(name)")
            }
            for (name, number) in [
                ("revocationDate", 1_795_000_000_000), ("revocationReason", 1), ("purchaseDate", 1_794_000_000_000),
                ("originalPurchaseDate", 1_793_000_000_000),
            ] {
                #expect(transaction[name] as? Int == number, "\(name)")
            }
            #expect(transaction["isUpgraded"] as? Bool == true)
            let renewal = Answer.payload(item["signedRenewalInfo"])
            #expect(renewal["autoRenewStatus"] as? Int == 0)
            #expect(renewal["autoRenewProductId"] as? String == "year")
            #expect(renewal["expirationIntent"] as? Int == 1)
            #expect(renewal["priceIncreaseStatus"] as? Int == 1)
        }
    }

    @Test func theStatusFollowsFromTheDates() async throws {
        try await APIBench.serving { bench in
            func status() async throws -> Int? { try await bench.statuses("1").items.first?["status"] as? Int }
            let grace = #","gracePeriodExpiresDate":\#(bench.time.milliseconds(200)),"isInBillingRetryPeriod":true"#
            try await bench.put("1", grace)
            #expect(try await status() == 1)
            bench.time.advance(100)
            #expect(try await status() == 4)
            bench.time.advance(100)
            #expect(try await status() == 3)
            try await bench.put("1", endsIn: -1)
            #expect(try await status() == 2)
            try await bench.put("1", #","revocationDate":\#(bench.time.milliseconds())"#)
            #expect(try await status() == 5)
        }
    }

    @Test(arguments: 1...5) func theStatusCanBeSaid(status: Int) async throws {
        try await APIBench.serving { bench in
            let told = try await bench.put("1", endsIn: status == 1 ? -1 : 100, #","status":\#(status)"#)
            #expect(told.json["status"] as? Int == status)
            let item = try #require(try await bench.statuses("1").items.first)
            #expect(item["status"] as? Int == status)
            let transaction = Answer.payload(item["signedTransactionInfo"])
            #expect((transaction["revocationDate"] as? Int64) == (status == 5 ? bench.time.milliseconds() : nil))
            let renewal = Answer.payload(item["signedRenewalInfo"])
            #expect(renewal["isInBillingRetryPeriod"] as? Bool == [3, 4].contains(status))
            #expect((renewal["gracePeriodExpiresDate"] != nil) == (status == 4))
        }
    }

    @Test func onlyTheStatusesThatAreAskedFor() async throws {
        try await APIBench.serving { bench in
            try await bench.put("1")
            #expect(try await bench.statuses("1", "?status=1").items.count == 1)
            #expect(try await bench.statuses("1", "?status=4&status=1").items.count == 1)
            let none = try await bench.statuses("1", "?status=4&status=3")
            #expect(none.status == 200)
            #expect(none.items.isEmpty)
            for wrong in ["?status=6", "?status=0", "?status=active", "?status=", "?status=1&status=9"] {
                #expect(try await bench.statuses("1", wrong).errorCode == 4_000_031, "\(wrong)")
            }
        }
    }

    @Test func anyOfItsTransactionsNamesIt() async throws {
        try await APIBench.serving { bench in
            try await bench.put("1", #","transactionId":"12","transactionIds":["13"]"#)
            try await bench.put("1", #","transactionId":"14""#)
            for id in ["1", "12", "13", "14"] {
                #expect(try await bench.statuses(id).items.first?["originalTransactionId"] as? String == "1", "\(id)")
            }
            let unknown = try await bench.statuses("15")
            #expect(unknown.status == 404)
            #expect(unknown.json["errorCode"] as? Int == 4_040_010)
            #expect(unknown.json["errorMessage"] as? String == "Transaction id not found.")
            #expect(try await bench.control(.DELETE, "subscriptions/1").status == 204)
            for id in ["1", "12", "14"] { #expect(try await bench.statuses(id).status == 404) }
            #expect(try await bench.control(.DELETE, "subscriptions/1").status == 404)
        }
    }

    @Test(arguments: ["abc", "12a", "-1", "%31x", "123456789012345678901234567890123"])
    func noNumberIsRefused(id: String) async throws {
        try await APIBench.serving { bench in
            let answer = try await bench.statuses(id)
            #expect(answer.status == 400)
            #expect(answer.errorCode == 4_000_006)
        }
    }

    @Test(arguments: [("Sandbox", "Production"), ("Production", "Sandbox")])
    func theOtherServerDoesNotKnowIt(here: String, there: String) async throws {
        try await APIBench.serving(environment: here) { bench in
            try await bench.put("1", #","environment":"\#(here)""#)
            try await bench.put("2", #","environment":"\#(there)""#)
            try await bench.put("3")
            try await bench.control(
                .PUT, "subscriptions/4",
                #"{"productId":"a","bundleId":"com.example.other","expiresDate":\#(bench.time.milliseconds(100))}"#)
            #expect(try await bench.statuses("1").json["environment"] as? String == here)
            #expect(try await bench.statuses("2").errorCode == 4_040_010)
            let own = try await bench.statuses("3").items.first?["signedTransactionInfo"]
            #expect(Answer.payload(own)["environment"] as? String == here)
            #expect(try await bench.statuses("4").errorCode == 4_040_010)
        }
    }

    @Test func onlyGet() async throws {
        try await APIBench.serving { bench in
            let answer = try await bench.call(.POST, "/inApps/v1/subscriptions/1")
            #expect(answer.status == 405)
            #expect(answer.headers["allow"] == "GET")
        }
    }
}
