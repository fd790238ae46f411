import Foundation

/// Simulated failure of a call.
package enum Trouble: Sendable, Equatable {
    /// A response with this status. The call has no effect.
    case status(Int, RetryAfterHeader?)
    /// No response until the client disconnects. The call has no effect.
    case hang
    /// A connection reset without a response. The call has no effect.
    case reset
    /// A connection reset after the call took effect.
    case loseAnswer
    /// A response with status 200 and a body that is not JSON, after the call took effect.
    case garbage

    package var takesEffect: Bool {
        switch self {
        case .loseAnswer, .garbage: true
        case .status, .hang, .reset: false
        }
    }
}

/// The value of a `Retry-After` header (RFC 9110 section 10.2.3).
package enum RetryAfterHeader: Sendable, Equatable {
    case text(String)
    /// An HTTP date this long after the call.
    case date(milliseconds: Int64)
    /// A time this long after the call, in milliseconds since 1970: neither seconds nor a date, like the App Store's.
    case epoch(milliseconds: Int64)

    package func header(at now: Date) -> String {
        switch self {
        case .text(let text): text
        case .date(let milliseconds): Self.httpDate(now.addingTimeInterval(Double(milliseconds) / 1_000))
        case .epoch(let milliseconds): String(now.wholeMilliseconds + milliseconds)
        }
    }

    /// RFC 9110 section 5.6.7. Rounded up to a whole second, so that a client that waits for it does not come too
    /// early.
    private static func httpDate(_ date: Date) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let whole = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.up))
        let parts = calendar.dateComponents([.year, .month, .day, .weekday, .hour, .minute, .second], from: whole)
        func two(_ value: Int?) -> String { (value ?? 0) < 10 ? "0\(value ?? 0)" : "\(value ?? 0)" }
        let weekday = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][((parts.weekday ?? 1) - 1) % 7]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let month = months[((parts.month ?? 1) - 1) % 12]
        let time = "\(two(parts.hour)):\(two(parts.minute)):\(two(parts.second))"
        return "\(weekday), \(two(parts.day)) \(month) \(parts.year ?? 1970) \(time) GMT"
    }
}

/// Values that are consumed in the order of their addition, each a number of times.
package struct Counted<Value: Sendable & Equatable>: Sendable, Equatable {
    private struct Entry: Sendable, Equatable {
        let value: Value
        /// nil: unlimited.
        var times: Int?
    }

    private var entries: [Entry] = []

    package init() {}

    /// - Parameter times: nil: unlimited.
    package mutating func add(_ value: Value, times: Int?) { entries.append(Entry(value: value, times: times)) }

    /// Takes the first value, if it applies to this use.
    package mutating func next(where isMeant: (Value) -> Bool = { _ in true }) -> Value? {
        guard let first = entries.first, isMeant(first.value) else { return nil }
        if let times = first.times {
            if times > 1 { entries[0].times = times - 1 } else { entries.removeFirst() }
        }
        return first.value
    }
}

/// Body of `PUT …/trouble`: failures of calls from now on.
package struct TroubleOrder: Sendable, Equatable, Decodable {
    package enum CodingKeys: String, CodingKey {
        case on, status, errorCode, retryAfter, retryAfterMilliseconds, body, delayMilliseconds, hang, reset, times
    }

    /// Route that it applies to; nil for all.
    package var on: String?
    package var status: Int?
    package var errorCode: Int?
    /// Value of the header.
    package var retryAfter: String?
    package var retryAfterMilliseconds: Int64?
    /// Replaces the response's body.
    package var body: String?
    package var delayMilliseconds: Int64?
    package var hang: Bool?
    package var reset: Bool?
    /// Number of calls; nil for all.
    package var times: Int?

    /// - Parameter fields: fields that the simulator accepts.
    package static func read(
        _ data: Data, _ fields: [CodingKeys], statuses: ClosedRange<Int>
    ) throws(ControlFault) -> TroubleOrder {
        let order: TroubleOrder = try JSONBody.decode(from: data, fields: fields.map(\.rawValue))
        func check<Number: Comparable>(
            _ name: String, _ value: Number?, _ range: ClosedRange<Number>
        ) throws(ControlFault) {
            guard value.map({ range.contains($0) }) ?? true else {
                throw .invalid("\(name) is \(range.lowerBound) to \(range.upperBound)")
            }
        }
        try check("status", order.status, statuses)
        try check("errorCode", order.errorCode, 1_000_000...9_999_999)
        try check("retryAfterMilliseconds", order.retryAfterMilliseconds, 0...86_400_000)
        try check("delayMilliseconds", order.delayMilliseconds, 0...600_000)
        try check("times", order.times, 1...1_000_000)
        guard (order.retryAfter ?? "").utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw .invalid("retryAfter is what a header can hold")
        }
        return order
    }

    /// nil if the call is answered normally.
    package var trouble: Trouble? {
        if hang == true { return .hang }
        if reset == true { return .reset }
        return status.map {
            .status(
                $0, retryAfter.map(RetryAfterHeader.text) ?? retryAfterMilliseconds.map { .epoch(milliseconds: $0) })
        }
    }
}

extension Counted<TroubleOrder> {
    /// Holds a single order.
    package init(_ order: TroubleOrder) {
        self.init()
        add(order, times: order.times)
    }

    /// Takes the trouble for the next call of a route.
    package mutating func next(on route: String?) -> TroubleOrder? { next { $0.on == nil || $0.on == route } }
}

/// How a call ends.
package enum Ending: Sendable, Equatable {
    case answer(Reply)
    /// No response until the client disconnects.
    case hang
    /// A connection reset; `processed` if the call took effect.
    case reset(processed: Bool)

    /// - Parameters:
    ///   - refusal: the response for a trouble's status, without `Retry-After`.
    ///   - answer: executes the call. Not called if the trouble prevents that.
    package init(_ trouble: Trouble?, at now: Date, refusal: (Int) -> Reply, answer: () -> Reply) {
        switch trouble {
        case nil: self = .answer(answer())
        case .garbage:
            _ = answer()
            self = .answer(.garbage)
        case .loseAnswer:
            _ = answer()
            self = .reset(processed: true)
        case .reset: self = .reset(processed: false)
        case .hang: self = .hang
        case .status(let status, let hint):
            self = .answer(refusal(status).with(header: "Retry-After", hint?.header(at: now)))
        }
    }

    /// Outcome for the log.
    package var outcome: (outcome: CallOutcome, status: Int?) {
        switch self {
        case .answer(let reply): (.answered, reply.status)
        case .hang: (.hung, nil)
        case .reset(let processed): (processed ? .lostAnswer : .reset, nil)
        }
    }
}

/// The decision about a call.
package struct Verdict<Ticket: Sendable>: Sendable {
    /// Identifies the call when it has ended.
    package let ticket: Ticket
    /// Delay before the ending.
    package let delayMilliseconds: Int64
    package let ending: Ending

    package init(_ ticket: Ticket, delayMilliseconds: Int64 = 0, _ ending: Ending) {
        self.ticket = ticket
        self.delayMilliseconds = delayMilliseconds
        self.ending = ending
    }
}
