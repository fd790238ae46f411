import Testing

@testable import RelayCore

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

    private func grant(readAt second: Double, late: Bool = false) -> Decision.Change {
        var change = Decision.Change(status: .granted, at: Script.second(second))
        (change.late, change.observedAt) = (late, Script.second(second))
        return change
    }

    /// The question about the owner has taken all the time in which its answer could reach the app.
    @Test func withoutAnAnswerAboutTheOwnerTheReadInTimeDecides() {
        let moment = schedule.nextRead(
            afterDoubtIn: grant(readAt: 30), watchedSince: Script.second(1), deadline: deadline)
        #expect(moment == nil)
    }

    /// No app waits, so nothing has to be decided before the watch ends.
    @Test(
        arguments: [(61, 67), (75, 95), (20, 25), (86_459, 86_460), (86_460, nil), (90_000, nil)] as [(Int, Int?)])
    func aLateGrantIsReadAgainUntilTheWatchEnds(read: Int, next: Int?) {
        let moment = schedule.nextRead(
            afterDoubtIn: grant(readAt: Double(read), late: true), watchedSince: Script.second(1), deadline: deadline)
        #expect(moment == next.map { Script.second(Double($0)) })
    }

    /// The question about the owner may take the time of the next read.
    @Test(arguments: [(50, false), (58.9, false), (59, true), (59.5, true)] as [(Double, Bool)])
    func aReadIsTheLastOneIfNoLaterOneIsAnsweredInTime(now: Double, isLast: Bool) {
        let progress = schedule.progress(
            of: grant(readAt: 53), watchedSince: Script.second(1), deadline: deadline, at: Script.second(now))
        #expect(progress == .init(hasWaited: true, isLastRead: isLast))
    }
}
