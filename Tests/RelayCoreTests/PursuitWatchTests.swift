import Formats
import RelayCore
import Testing

/// The watch after a deadline that passed without an answer.
struct PursuitWatchTests {
    /// Answers every read from `second` on with "not yet", until the pursuit requests no more.
    ///
    /// - Returns: the seconds of the reads.
    private func readToTheEnd(_ script: inout Script, from second: Double, lateness: Double = 0) -> [Double] {
        var seconds: [Double] = []
        var now = second
        var next = Decision.Next.read
        for _ in 0..<20_000 {
            switch next {
            case .read:
                seconds.append(now)
                next = script.readAnswered(.notYet, at: now).next
            case .rest(let moment):
                now = (moment - Script.acceptedAt).seconds + lateness
                next = script.woken(at: now).next
            case .forward, .finished:
                return seconds
            }
        }
        return seconds
    }

    private func gaps(_ seconds: [Double]) -> [Double] {
        zip(seconds.dropFirst(), seconds).map { $0 - $1 }
    }

    @Test func readsAreFiveSecondsApartThenDoubleThenHourlyThenEnd() {
        var script = Script.watching(since: 1)
        let seconds = readToTheEnd(&script, from: 1)
        let waiting = seconds.prefix { $0 < 60 }
        #expect(Array(waiting) == (0..<12).map { 1 + Double($0) * 5 })

        let watch = Array(seconds.dropFirst(waiting.count))
        #expect(watch.first == 61)
        #expect(
            gaps(watch).prefix(10).elementsEqual([6, 12, 24, 48, 96, 192, 384, 768, 1536, 3072]),
            "doubling from about one interval")
        let hourly = gaps(watch).dropFirst(10).dropLast()
        #expect(hourly.count == 22)
        #expect(hourly.allSatisfy { $0 == 3600 })

        let end = 60.0 + 86_400
        #expect(watch.dropLast().last.map { $0 < end && $0 > end - 3600 } == true)
        #expect(watch.last == end, "the last gap is cut")
        #expect(script.pursuit.status == .timedOut)
        #expect(seconds.count == 12 + 11 + 23)
    }

    @Test(arguments: [0.05, 0.1, 0.5, 1, 1.7, 2.5, 3.3, 4.2, 4.95, 4.999_999])
    func theFirstReadOfTheWatchComesWithinTwoIntervalsOfTheDeadline(forwarded: Double) {
        var script = Script.watching(since: forwarded)
        let first = readToTheEnd(&script, from: forwarded).first { $0 >= 60 }
        #expect(first.map { $0 <= 60 + 2 * 5 } == true)
    }

    /// The worker is up to 1.5 s late at every step.
    @Test(arguments: [0.0, 0.2, 1.5]) func gapsInTheWatchNeverPassAnHourAndAtMostDouble(lateness: Double) {
        var script = Script.watching(since: 2)
        let watch = readToTheEnd(&script, from: 2, lateness: lateness).filter { $0 >= 60 }
        let gaps = gaps(watch)
        #expect(gaps.allSatisfy { $0 <= 3600 + lateness + 0.001 })
        #expect(zip(gaps.dropFirst(), gaps).allSatisfy { $0 <= 2 * $1 + lateness + 0.001 })
        let uncut = gaps.dropLast()
        #expect(zip(uncut.dropFirst(), uncut).allSatisfy { $0 >= $1 - 0.001 }, "only the last is cut")
        #expect(watch.last.map { abs($0 - (60 + 86_400 + lateness)) < 0.001 } == true)
    }

    @Test func aForwardAfterTheDeadlineIsWatchedAsLongFromThenOn() {
        var script = Script()
        _ = script.woken(at: 0)
        _ = script.forwardAnswered(.tryAgain(why: "refused", retryAfter: nil), at: 1)
        // Cleeng returns three days later: a watch that began at the deadline would have ended long before.
        let forwarded = 3 * 86_400.0
        _ = script.woken(at: forwarded)
        #expect(script.forwardAnswered(.accepted, at: forwarded).next == .read)

        let seconds = readToTheEnd(&script, from: forwarded)
        #expect(gaps(seconds).prefix(4).elementsEqual([5, 10, 20, 40]))
        #expect(seconds.dropLast().last.map { $0 < forwarded + 86_400 } == true)
        #expect(seconds.last == forwarded + 86_400)
    }

    @Test func anEarlyForwardIsWatchedFromTheDeadlineOn() {
        var script = Script.watching(since: 1)
        script.reads.reconcileFor = .seconds(100)
        #expect(script.readAnswered(.notYet, at: 159).next != .finished)
        #expect(script.readAnswered(.notYet, at: 160).next == .finished)
    }

    @Test(arguments: [0.05, 0.5, 5, 60, 300], [0, 0.1, 1, 24, 8760])
    func theNumberOfReadsIsBounded(interval: Double, hours: Double) {
        var script = Script.watching(since: 1)
        script.reads = ReadSchedule(
            interval: .seconds(rounded: interval), reconcileFor: .seconds(rounded: hours * 3600))
        let count = readToTheEnd(&script, from: 1).count
        // Before the deadline one read per interval; then doublings from the interval to an hour, and one read per
        // hour.
        let inTime = (60 / interval).rounded(.up) + 1
        var doublings = 1.0
        var gap = interval
        while gap < 3600 {
            gap *= 2
            doublings += 1
        }
        #expect(Double(count) <= inTime + doublings + hours + 2)
        #expect(script.pursuit.status == .timedOut)
    }

    @Test func withoutAWatchTheReadAfterTheDeadlineIsTheLast() {
        var script = Script.watching(since: 1)
        script.reads.reconcileFor = .zero
        let seconds = readToTheEnd(&script, from: 1)
        #expect(seconds.last == 61)
        #expect(script.pursuit.status == .timedOut)
    }

    @Test func aYesCountsAfterTheWatch() {
        var script = Script.watching(since: 1)
        _ = script.readAnswered(.notYet, at: 80_000)
        let granted = script.readAnswered(.yes, at: 200_000)
        #expect(granted.change?.status == .granted)
        #expect(granted.change?.late == true)
        #expect(granted.next == .finished)
    }
}
