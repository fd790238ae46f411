import Foundation
import Testing

extension BadDays {
    @Suite struct FrozenCopyTests {
        /// A copy reads what twelve customers have before it sends their purchases, and then does not run for as long as its
        /// leases last. Another copy sends them, and after each of them a newer request for the same subscription. When the
        /// first one runs again it stands right before its own sending.
        @Test(.timeLimit(.minutes(1)))
        func aCopyThatWasFrozenSendsNothingThatHasPassedOn() async throws {
            try await BadDay.run { day in
                let frozen = try await day.relay()
                let originals = (0..<12).map { _ in TestPurchase.newTransactionID() }
                let early = originals.enumerated().map {
                    TestPurchase(email: "early-\($0)@example.test", original: $1)
                }
                for purchase in early { try await day.control.behave(purchase.email, "read-slow-1s-1", "after-0") }
                let posted = await AppClient.post(early, to: frozen)
                #expect(posted.accepted.count == 12)
                try await Awaiting.fact("it reads before it sends") {
                    try await day.simulator.requests(path: "/3.1/entitlements").count
                } holds: {
                    $0 == 12
                }
                frozen.process.signal(SIGSTOP)
                #expect(try await day.control.payments().isEmpty)

                let other = try await day.relay()
                #expect(try await AppClient.outcomes(posted.ids, of: other) == ["granted": 12])
                let newer = originals.enumerated().map {
                    TestPurchase(email: "newer-\($0)@example.test", original: $1)
                }
                let late = await AppClient.post(newer, to: other)
                #expect(try await AppClient.outcomes(late.ids, of: other) == ["granted": 12])

                frozen.process.signal(SIGCONT)
                try await Awaiting.fact(
                    "it has let go of everything", of: { try await frozen.metric("relay_pursuits_held") }
                ) {
                    $0 == 0
                }
                #expect(try await day.control.payments().count == 24)
                #expect(try await AppClient.outcomes(late.ids, of: frozen) == ["granted": 12])
                try await LostCopyTests.forwardedProperly(posted + late, day)
            }
        }
    }
}
