import Formats
import RelayCore

/// A validation's events on a time axis. The minute in which the app waits takes most of the width.
struct TimeAxis: Sendable {
    /// One event, at a point in time or over an interval.
    struct Event: Sendable {
        var lane: String
        var begin: Timestamp
        var end: Timestamp
        var tone: Tone
        var label: String
    }

    struct Tick: Sendable {
        var x: Int
        var bottom: Int
        var label: String
    }

    struct Mark: Sendable {
        var x: Int
        var y: Int
        var width: Int
        var tone: String
        var label: String
    }

    struct Lane: Sendable {
        var title: String
        var textY: Int
        var marks: [Mark]
    }

    private static let left = 110.0
    /// Leaves space for half a label.
    private static let right = 965.0
    private static let top = 26
    private static let laneHeight = 24
    /// Share of the width for the app's minute if later events exist.
    private static let share = 0.7

    var height: Int
    var bottom: Int
    var deadline: Int?
    var ticks: [Tick]
    var lanes: [Lane]
    /// Description for screen readers.
    var summary: String

    /// - Parameters:
    ///   - begin: when the purchase was accepted.
    ///   - deadline: when the app stops waiting.
    ///   - end: when the purchase was settled, or now.
    init(_ events: [Event], begin: Timestamp, deadline: Timestamp, end: Timestamp) {
        let last = max(end, events.map(\.end).max() ?? end, begin + .seconds(1))
        let x = Self.scale(begin, deadline, last)
        var order: [String] = []
        for event in events where !order.contains(event.lane) { order.append(event.lane) }
        let bottom = Self.top + order.count * Self.laneHeight
        self.bottom = bottom
        height = bottom + 6
        lanes = order.enumerated().map { place, name in
            let y = Self.top + place * Self.laneHeight
            let marks = events.filter { $0.lane == name }.map { event in
                let from = x(event.begin)
                return Mark(
                    x: Int(from), y: y, width: max(4, Int(x(event.end) - from)), tone: event.tone.rawValue,
                    label: event.label)
            }
            return Lane(title: name, textY: y + 11, marks: marks)
        }
        self.deadline = deadline <= last ? Int(x(deadline)) : nil
        let span = (min(deadline, last) - begin).seconds
        var ticks = (0...4).map { step in
            let moment = begin + .seconds(rounded: span * Double(step) / 4)
            return Tick(x: Int(x(moment)), bottom: bottom, label: Self.label(moment - begin))
        }
        if last > deadline + .seconds(1) {
            ticks.append(Tick(x: Int(x(last)), bottom: bottom, label: Self.label(last - begin)))
        }
        self.ticks = ticks
        summary = "\(events.count) events over \(Self.label(last - begin)); the table below has each of them"
    }

    /// Piecewise linear: one scale up to the deadline, another after it.
    private static func scale(_ begin: Timestamp, _ deadline: Timestamp, _ last: Timestamp) -> (Timestamp) -> Double {
        let width = right - left
        let isLong = last > deadline && deadline > begin
        let (kink, kinkX) = isLong ? (deadline, left + width * share) : (last, right)
        return { moment in
            let moment = min(max(moment, begin), last)
            if moment <= kink {
                return left + (kinkX - left) * ((moment - begin).seconds / max((kink - begin).seconds, 0.001))
            }
            return kinkX + (right - kinkX) * ((moment - kink).seconds / max((last - kink).seconds, 0.001))
        }
    }

    private static func label(_ age: Duration) -> String {
        let seconds = age.seconds
        if seconds < 10 {
            let tenths = Int((seconds * 10).rounded())
            return "\(tenths / 10).\(tenths % 10) s"
        }
        if seconds < 120 { return "\(Int(seconds.rounded())) s" }
        if seconds < 7_200 { return "\(Int((seconds / 60).rounded())) min" }
        return "\(Int((seconds / 3_600).rounded())) h"
    }
}
