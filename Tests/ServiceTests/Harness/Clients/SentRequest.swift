import Foundation

/// One request as the simulator took it.
struct SentRequest: Sendable {
    let json: JSON
    let startedAt: Date
    /// Nil while it is under way.
    let endedAt: Date?

    init(_ json: JSON) throws {
        self.json = json
        guard let startedAt = json["startedAt"].string.flatMap(Date.init(milliseconds:)) else {
            throw HarnessError.failed("a request of the simulator's log has no time", [json.description])
        }
        self.startedAt = startedAt
        endedAt = json["endedAt"].string.flatMap(Date.init(milliseconds:))
    }

    var path: String { json["path"].string ?? "" }
    var body: JSON { json["body"] }
    var correlation: String? { json["headers"]["correlation-id"].string }
    func header(_ name: String) -> String? { json["headers"][name].string }
    var email: String? { json["customerEmail"].string }
    var status: Int? { json["status"].int }
    var outcome: String? { json["outcome"].string }
}

extension Date {
    /// `2026-11-20T10:00:00.000Z`, and nothing else.
    init?(milliseconds text: String) {
        guard text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil,
            let date = try? Date(text, strategy: .iso8601.year().month().day().time(includingFractionalSeconds: true))
        else { return nil }
        self = date
    }
}

extension [SentRequest] {
    /// From the end of each to the beginning of the next, in seconds.
    var pauses: [TimeInterval] {
        zip(self, dropFirst()).map { earlier, later in
            later.startedAt.timeIntervalSince(earlier.endedAt ?? earlier.startedAt)
        }
    }

    /// Whether the service can have sent one request in each interval. A busy machine delays single requests, by three seconds at most,
    /// and so shortens the gap to the next one; it adds no requests.
    func comeOneIn(_ interval: TimeInterval) -> Bool {
        guard let first, let last else { return true }
        return Double(count - 1) * interval <= last.startedAt.timeIntervalSince(first.startedAt)
            + Swift.max(interval, 3)
    }

    /// From the beginning of each to the beginning of the next, in seconds.
    var gaps: [TimeInterval] {
        zip(self, dropFirst()).map { $1.startedAt.timeIntervalSince($0.startedAt) }
    }
}
