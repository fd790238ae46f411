import Foundation
import Testing

extension BadDays {
    @Suite struct LostCopyTests {
        /// 202s are out, forwards are under way (each takes 300 ms upstream), and the only copy is killed. A new one starts.
        @Test(.timeLimit(.minutes(10)))
        func aNewCopyTakesUpWhatAKilledOneHadAccepted() async throws {
            try await BadDay.run { day in
                try await day.control.trouble("slow-300ms")
                let first = try await day.relay()
                let posted = await AppClient.post(AppClient.purchases(80, "killed"), to: first)
                first.process.signal(SIGKILL)
                let killed = ContinuousClock.now
                #expect(posted.accepted.count == 80)
                let second = try await day.relay()
                #expect(try await AppClient.outcomes(posted.ids, of: second) == ["granted": 80])
                let recovery = ContinuousClock.now - killed
                Measured.note("all 80 settled after kill -9, by a new copy", recovery)
                try await Self.forwardedProperly(posted, day)
            }
        }

        @Test(.timeLimit(.minutes(10)))
        func theOtherCopyTakesUpWhatAKilledOneHeldAndWakesItsOwnPolls() async throws {
            try await BadDay.run { day in
                try await day.control.trouble("slow-300ms")
                async let one = day.relay()
                async let other = day.relay()
                let (doomed, survivor) = try await (one, other)
                async let toDoomed = AppClient.post(AppClient.purchases(40, "doomed"), to: doomed)
                async let toSurvivor = AppClient.post(AppClient.purchases(40, "survivor"), to: survivor)
                let posted = await toDoomed + toSurvivor
                #expect(posted.accepted.count == 80)
                doomed.process.signal(SIGKILL)
                let killed = ContinuousClock.now
                #expect(try await AppClient.outcomes(posted.ids, of: survivor) == ["granted": 80])
                let recovery = ContinuousClock.now - killed
                Measured.note("all 80 settled after one of two copies was killed", recovery)
                try await Self.forwardedProperly(posted, day)
            }
        }

        /// Five copies in a row, each killed at a moment of its own in the middle of its load.
        @Test(.timeLimit(.minutes(10)))
        func copiesKilledOverAndOverLoseNothing() async throws {
            try await BadDay.run { day in
                var posted: [Posted] = []
                for round in 0..<5 {
                    let relay = try await day.relay()
                    let load = SteadyLoad(relay, "loop-\(round)")
                    try await load.accepted(5 + 7 * round)
                    relay.process.signal(SIGKILL)
                    posted += await load.stop()
                }
                let last = try await day.relay()
                let began = ContinuousClock.now
                #expect(try await AppClient.outcomes(posted.ids, of: last) == ["granted": posted.ids.count])
                #expect(posted.accepted.count >= 95)
                Measured.note("settled after five killed copies", ContinuousClock.now - began)
                try await Self.forwardedProperly(posted, day)
            }
        }

        /// Each was sent, and none twice at once.
        static func forwardedProperly(_ posted: [Posted], _ day: BadDay) async throws {
            let payments = try await day.control.payments()
            let sent = Set(payments.compactMap(\.email))
            #expect(posted.accepted.map(\.purchase.email).filter { !sent.contains($0) } == [])
            #expect(payments.filter { $0.json["overlappedWithSamePurchase"].bool != false }.count == 0)
        }
    }
}
