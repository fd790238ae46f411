import Formats
import RelayCore
import Testing

@testable import Console

@Suite("Charts")
struct ChartTests {
    @Test("bars are as high as their share of the highest, and the least is still seen")
    func bars() {
        let chart = BarChart("Sales", [0, 1_000, 500, 1], tone: .ok) { "step \($0)" }
        #expect(chart.total == 1_501 && chart.width == 40)
        #expect(chart.bars.map(\.x) == [10, 20, 30] && chart.bars.map(\.height) == ["60.0", "30.0", "2.0"])
        #expect(chart.bars.map(\.y) == ["0.0", "30.0", "58.0"] && chart.bars[0].label == "step 1: 1000")
        #expect(chart.summary == "Sales: 1501, at most 1000 at step 1")
        #expect(BarChart("None", [0, 0], tone: .ok) { "\($0)" }.bars.isEmpty)
    }

    private let begin = Timestamp(seconds: 1_800_000_000)

    private func event(_ lane: String, _ from: Double, _ to: Double) -> TimeAxis.Event {
        TimeAxis.Event(
            lane: lane, begin: begin + .seconds(rounded: from), end: begin + .seconds(rounded: to), tone: .ok,
            label: lane)
    }

    @Test("an axis is linear from acceptance to settlement within the app's minute")
    func short() {
        let axis = TimeAxis(
            [event("App", 0, 0), event("Sent", 5, 10), event("App", 10, 10)], begin: begin,
            deadline: begin + .seconds(60), end: begin + .seconds(10))
        #expect(axis.lanes.map(\.title) == ["App", "Sent"] && axis.lanes[0].marks.count == 2)
        #expect(axis.lanes[1].marks.map(\.x) == [537] && axis.lanes[1].marks.map(\.width) == [427])
        #expect(axis.deadline == nil && axis.ticks.map(\.label) == ["0.0 s", "2.5 s", "5.0 s", "7.5 s", "10 s"])
    }

    @Test("events after the minute are compressed, so that the minute is visible")
    func long() {
        let axis = TimeAxis(
            [event("App", 0, 0), event("Outcome", 7_200, 7_200)], begin: begin, deadline: begin + .seconds(60),
            end: begin + .seconds(7_200))
        #expect(axis.deadline == 708 && axis.lanes[1].marks.map(\.x) == [965])
        #expect(axis.ticks.last?.label == "2 h" && axis.ticks.count == 6)
    }
}
