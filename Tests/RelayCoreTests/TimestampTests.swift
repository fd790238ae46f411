import Formats
import RelayCore
import Testing

struct TimestampTests {
    @Test func secondsAreWholeMicroseconds() {
        #expect(Timestamp(seconds: 3).microseconds == 3_000_000)
        #expect(Timestamp(seconds: -3).microseconds == -3_000_000)
    }

    @Test func momentsAreOrderedByTime() {
        let moments = [-5, 0, 7, .max, .min].map { Timestamp(microseconds: $0) }
        #expect(moments.sorted().map(\.microseconds) == [.min, -5, 0, 7, .max])
    }

    @Test func durationsAreAddedAndSubtracted() {
        let moment = Timestamp(microseconds: 10)
        #expect(moment + .microseconds(5) == Timestamp(microseconds: 15))
        #expect(moment - .microseconds(15) == Timestamp(microseconds: -5))
        #expect(Timestamp(microseconds: 15) - moment == .microseconds(5))
        #expect(moment - Timestamp(microseconds: 15) == .microseconds(-5))
        #expect(moment + .nanoseconds(1_999) == Timestamp(microseconds: 11), "what is less than a microsecond is cut")
    }

    @Test func secondsAndDurationsThatDoNotFitAreTheNearestThatDo() {
        for seconds in [Int64.max, 253_402_300_799_000, .min, -253_402_300_799_000] {
            #expect(Timestamp(seconds: seconds).microseconds == (seconds < 0 ? .min : .max))
            #expect(!Timestamp(seconds: seconds).rfc3339.isEmpty)
        }
        for value in [1e300, -1e300, .infinity, -.infinity] as [Double] {
            #expect(Duration.seconds(rounded: value) == .microseconds(value < 0 ? Int64.min : .max))
        }
        #expect(Duration.seconds(rounded: .nan) == .zero)
    }

    @Test func timesAtTheEdgeStayThere() {
        #expect(Timestamp(microseconds: .max) + .seconds(1) == Timestamp(microseconds: .max))
        #expect(Timestamp(microseconds: .max - 1) + .microseconds(2) == Timestamp(microseconds: .max))
        #expect(Timestamp(microseconds: .min) - .seconds(1) == Timestamp(microseconds: .min))
        #expect(Timestamp(microseconds: .min + 1) + .microseconds(-2) == Timestamp(microseconds: .min))
    }

    @Test(
        arguments: [
            (0, 0), (1, 0), (86_399_999_999, 0), (86_400_000_000, 1), (-1, -1), (-86_400_000_000, -1),
            (-86_400_000_001, -2), (1_795_168_800_000_000, 20_777),
        ] as [(Int64, Int)])
    func aDayBeginsAtMidnightAlsoBefore1970(microseconds: Int64, day: Int) {
        #expect(Timestamp(microseconds: microseconds).daysSince1970 == day)
    }

    @Test(
        arguments: [
            (.seconds(2), 2_000_000), (.milliseconds(-1), -1_000), (.nanoseconds(1_999), 1), (.nanoseconds(-1_999), -1),
            (.nanoseconds(999), 0), (.nanoseconds(-999), 0), (.seconds(-1) - .microseconds(1), -1_000_001),
            (.zero, 0),
        ] as [(Duration, Int64)])
    func aDurationsMicrosecondsAreRoundedTowardsZero(duration: Duration, microseconds: Int64) {
        #expect(duration.microseconds == microseconds)
    }

    @Test func aDurationIsAlsoANumberOfSeconds() {
        #expect(Duration.milliseconds(1_500).seconds == 1.5)
        #expect(Duration.milliseconds(-1_500).seconds == -1.5)
        #expect(Duration.seconds(rounded: 0.05) == .milliseconds(50))
        #expect(Duration.seconds(rounded: 0.000_000_6) == .microseconds(1))
        #expect(Duration.seconds(rounded: -0.000_000_4) == .zero)
        #expect(Duration.seconds(rounded: 8760 * 3600) == .seconds(31_536_000))
    }
}
