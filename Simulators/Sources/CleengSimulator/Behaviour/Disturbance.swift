import SimulatorKit

/// Disturbance of one kind of calls: delays, and troubles that are consumed in the order of their names.
struct Disturbance: Sendable, Equatable {
    static let longestMilliseconds: Int64 = 86_400_000

    private var delays = Counted<Int64>()
    private var troubles = Counted<Trouble>()

    /// Takes the disturbance of the next call.
    mutating func next() -> (delayMilliseconds: Int64, trouble: Trouble?) { (delays.next() ?? 0, troubles.next()) }

    /// Adds the disturbance with a name such as `throttled-2-date`, `500-2`, `hang` or `slow-5s`.
    /// - Returns: false, without a change, for an unknown name.
    mutating func adopt(_ words: ArraySlice<Substring>) -> Bool {
        var words = words
        guard let name = words.popFirst() else { return false }
        if name == "slow" {
            guard let delay = words.popFirst().flatMap(Self.milliseconds), let times = Self.times(&words), words.isEmpty
            else { return false }
            delays.add(delay, times: times.limit)
            return true
        }
        guard var trouble = Self.trouble(name, &words), let times = Self.times(&words) else { return false }
        if case .status(429, _) = trouble, let form = words.popFirst() {
            guard let hint = Self.hints[form] else { return false }
            trouble = .status(429, hint)
        }
        guard words.isEmpty else { return false }
        troubles.add(trouble, times: times.limit)
        return true
    }

    /// Forms of `Retry-After` in a 429.
    private static let hints: [Substring: RetryAfterHeader?] = [
        "seconds": .text("1"), "date": .date(milliseconds: 1_000), "bare": nil,
    ]

    private static func trouble(_ name: Substring, _ words: inout ArraySlice<Substring>) -> Trouble? {
        switch name {
        case "reject":
            guard let code = words.first.flatMap({ Int($0) }), (400...499).contains(code) else {
                return .status(400, nil)
            }
            words.removeFirst()
            return .status(code, nil)
        case "unauthorized": return .status(401, nil)
        case "forbidden": return .status(403, nil)
        case "notfound": return .status(404, nil)
        case "throttled": return .status(429, .text("1"))
        case "flaky": return .status(500, nil)
        case "down": return .status(503, nil)
        case "hang": return .hang
        case "reset": return .reset
        case "garbage": return .garbage
        case "lost":
            guard words.popFirst() == "answer" else { return nil }
            return .loseAnswer
        case "status": return words.popFirst().flatMap(status)
        default: return status(name)
        }
    }

    private static func status(_ text: Substring) -> Trouble? {
        guard let code = Int(text), (300...599).contains(code) else { return nil }
        return .status(code, code == 429 ? .text("1") : nil)
    }

    private struct Times {
        /// nil: unlimited.
        let limit: Int?
    }

    /// Removes and returns an optional count at the front.
    /// - Returns: nil for an invalid count.
    private static func times(_ words: inout ArraySlice<Substring>) -> Times? {
        guard let word = words.first, let first = word.utf8.first, (0x30...0x39).contains(first) else {
            return Times(limit: nil)
        }
        guard let count = Int(word), (1...1_000_000).contains(count) else { return nil }
        words.removeFirst()
        return Times(limit: count)
    }

    /// Parses `500ms`, `3s`, `2m` or, in seconds, `3`; a day at most.
    static func milliseconds(_ text: Substring) -> Int64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let factors: [Substring: Int64] = ["ms": 1, "s": 1_000, "": 1_000, "m": 60_000]
        guard let factor = factors[text.dropFirst(digits.count)], let number = Int64(digits) else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow || product > longestMilliseconds ? nil : product
    }
}
