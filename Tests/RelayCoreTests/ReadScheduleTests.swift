import RelayCore
import Testing

struct ReadScheduleTests {
    private let schedule = ReadSchedule(interval: .seconds(5), reconcileFor: .seconds(86_400))
    private let deadline = Script.deadline

    @Test(arguments: [0, 1, 42, 54, 55, 59, 59.999_999]) func beforeTheDeadlineItIsOneInterval(second: Double) {
        let now = Script.second(second)
        #expect(schedule.next(after: now, denseUntil: deadline) == now + .seconds(5))
    }

    @Test(
        arguments: [
            (0, 5), (1, 6), (5, 10), (6, 11), (15, 20), (1000, 1005), (3594, 3599), (3595, 3600), (3596, 3600),
            (40_000, 3600),
            (82_799, 3600), (82_800, 3600), (82_801, 3599), (86_399, 1),
        ] as [(Int, Int)])
    func afterTheDeadlineTheGapGrowsToAnHour(elapsed: Int, gap: Int) {
        let now = deadline + .seconds(elapsed)
        #expect(schedule.next(after: now, denseUntil: deadline) == now + .seconds(gap))
    }

    @Test func itEndsWhenTheWatchIsOver() {
        let end = deadline + .seconds(86_400)
        #expect(schedule.next(after: end - .microseconds(1), denseUntil: deadline) == end)
        #expect(schedule.next(after: end, denseUntil: deadline) == nil)
        #expect(schedule.next(after: end + .seconds(1_000_000), denseUntil: deadline) == nil)
    }

    @Test func withoutAWatchItEndsAtTheDeadline() {
        let none = ReadSchedule(interval: .seconds(5), reconcileFor: .zero)
        #expect(none.next(after: deadline - .microseconds(1), denseUntil: deadline) != nil)
        #expect(none.next(after: deadline, denseUntil: deadline) == nil)
    }
}
