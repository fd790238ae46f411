import Foundation
import TestRun
import Testing

extension Availability {
    @Suite struct ConfirmationTests {
        /// The standby stops, so the primary cannot confirm a commit. The relay accepts nothing meanwhile: no new
        /// purchase, and no repeat of a purchase whose row it can read.
        @Test(.whole, .timeLimit(.paced(minutes: 4)))
        func nothingIsAcceptedWithoutTheStandby() async throws {
            try await ServerPair.run { pair in
                try await BadDay.run(on: pair.database, settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "120"]) { day in
                    let relay = try await day.relay()
                    // The repeat gets its own copy, since it must not share a commit with others.
                    let other = try await day.relay()
                    let known = TestPurchase(email: "known@example.test")
                    let first = try await relay.purchase(known, headers: ["Idempotency-Key": "once"])
                    #expect(first.status == 202)
                    let id = try #require(first.json["validationId"].string)
                    #expect(try await AppClient.outcomes([id], of: relay) == ["granted": 1])

                    await pair.standby.stop()
                    let began = ContinuousClock.now
                    async let repeated = other.purchase(known, headers: ["Idempotency-Key": "once"])
                    async let fresh = AppClient.post(AppClient.purchases(5, "alone"), to: relay)
                    let answers = (try await repeated, await fresh)
                    #expect(answers.0.status == 503, "\(answers.0.text)")
                    for posted in answers.1 { Probes.isUnavailable(posted) }
                    Measured.note("503 while the standby is away, after", ContinuousClock.now - began)

                    try await pair.standby.start(following: pair.primary)
                    try await ServerPair.awaitConfirmation(pair.primary)
                    let again = await AppClient.post(answers.1.map(\.purchase), to: relay)
                    #expect(again.statuses.isSubset(of: [200, 202]), "\(again.statuses)")
                    #expect(try await AppClient.outcomes(again.ids, of: relay) == ["granted": 5])
                    let repeatedAgain = try await relay.purchase(known, headers: ["Idempotency-Key": "once"])
                    #expect(repeatedAgain.status == 200)
                    #expect(repeatedAgain.json["validationId"].string == id)
                    #expect(try await day.control.stats()["overlappingForwards"].int == 0)
                }
            }
        }
    }
}
