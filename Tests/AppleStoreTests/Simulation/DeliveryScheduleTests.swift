import AppStoreSimulation
import Testing

@Suite("When the App Store tries again")
struct DeliveryScheduleTests {
    private func hours(_ schedule: DeliverySchedule) -> [Double] {
        schedule.waits.map { $0 / Duration.seconds(3_600) }
    }

    @Test func asApplePublishedIt() {
        #expect(hours(DeliverySchedule(environment: "Production")) == [1, 12, 24, 48, 72])
        #expect(hours(DeliverySchedule(.one, environment: "Production")) == [6, 24, 48])
        #expect(DeliverySchedule(environment: "Sandbox").waits.isEmpty)
    }

    @Test func fasterThanInTruth() {
        let schedule = DeliverySchedule(environment: "Production", speed: 3_600)
        #expect(schedule.wait(afterAttempt: 1) == .seconds(1))
        #expect(schedule.wait(afterAttempt: 5) == .seconds(72))
        #expect(schedule.wait(afterAttempt: 6) == nil)
        #expect(DeliverySchedule(waits: []).wait(afterAttempt: 1) == nil)
    }

    @Test func whatSaysThatItWasTaken() {
        #expect([200, 202, 204, 206].allSatisfy { DeliverySchedule.isSuccess($0) })
        #expect(![199, 207, 301, 400, 404, 500, 503].contains { DeliverySchedule.isSuccess($0) })
    }
}
