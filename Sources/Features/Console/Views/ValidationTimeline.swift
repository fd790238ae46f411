import Formats
import Relay
import RelayCore

/// The timeline of one validation, as a diagram and as a table.
enum ValidationTimeline {
    /// - Parameter now: end of the diagram if the validation is not settled.
    static func axis(_ detail: ValidationDetail, now: Timestamp) -> TimeAxis {
        let one = detail.validation
        let events = detail.timeline.map { entry in
            let event = entry.event
            // An event's time is its end.
            let begin = event.latency.map { event.at - $0 } ?? event.at
            let what = [event.kind.name, event.upstreamStatus.map { "HTTP \($0)" }, event.detail]
            return TimeAxis.Event(
                lane: lane(event.kind), begin: begin, end: event.at, tone: tone(event),
                label: "\(ConsoleText.time(event.at)) \(what.compactMap(\.self).joined(separator: ", "))")
        }
        return TimeAxis(
            events, begin: one.acceptedAt, deadline: one.deadline, end: one.settledAt ?? now)
    }

    static func table(_ detail: ValidationDetail) -> Table {
        Table(
            ["At", "After", "Event", "Cleeng's answer", "Took", "Copy", "Detail"],
            detail.timeline.map { entry in
                let event = entry.event
                return [
                    .init(ConsoleText.time(event.at)),
                    .init(after(event.at - detail.validation.acceptedAt)),
                    .init(event.kind.name, tone: tone(event)), .init(event.upstreamStatus.map { "HTTP \($0)" }),
                    .init(event.latency.map { "\(Int(($0.seconds * 1_000).rounded())) ms" }),
                    .init(entry.instance, isCode: true), .init(event.detail),
                ]
            }, empty: "Nothing is written of it.")
    }

    private static func after(_ age: Duration) -> String {
        let thousandths = Int((max(age.seconds, 0) * 1_000).rounded())
        return thousandths < 120_000 ? "\(thousandths / 1_000).\(thousandths % 1_000 / 100) s" : age.spoken
    }

    private static func lane(_ kind: TimelineEvent.Kind) -> String {
        switch kind {
        case .accepted: "App"
        case .forwarded, .forwardFailed: "Sent"
        case .entitlementRead, .entitlementReadFailed, .baselineRead, .synchronizationRead, .synchronizationReadFailed:
            "Access check"
        case .cleengEvent: "Cleeng's event"
        case .retried, .abandoned, .parked: "By hand"
        case .granted, .rejected, .timedOut, .transferred, .revoked, .superseded, .renewed: "Outcome"
        }
    }

    private static func tone(_ event: TimelineEvent) -> Tone {
        switch event.kind {
        case .granted, .renewed: .ok
        case .rejected, .forwardFailed, .parked: .critical
        case .timedOut, .entitlementReadFailed, .synchronizationReadFailed, .superseded, .abandoned: .warning
        case .accepted, .forwarded, .cleengEvent, .retried: .link
        case .entitlementRead, .baselineRead, .synchronizationRead, .transferred, .revoked: .quiet
        }
    }
}
