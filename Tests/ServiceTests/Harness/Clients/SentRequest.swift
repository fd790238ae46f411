import Foundation

/// One request that the simulator received.
struct SentRequest: Sendable {
    let json: JSON
    let startedAt: Date
    /// `nil` while the request runs.
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
    /// Accepts only the form `2026-11-20T10:00:00.000Z`.
    init?(milliseconds text: String) {
        guard text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil,
            let date = try? Date(text, strategy: .iso8601.year().month().day().time(includingFractionalSeconds: true))
        else { return nil }
        self = date
    }
}

extension [SentRequest] {
    /// Seconds between the end of each request and the start of the next.
    var pauses: [TimeInterval] {
        zip(self, dropFirst()).map { earlier, later in
            later.startedAt.timeIntervalSince(earlier.endedAt ?? earlier.startedAt)
        }
    }

    /// Whether the service may have sent one request in each interval. A busy machine delays single requests by up to
    /// three seconds, which shortens the gap to the next one; it does not add requests.
    func comeOneIn(_ interval: TimeInterval) -> Bool {
        guard let first, let last else { return true }
        return Double(count - 1) * interval <= last.startedAt.timeIntervalSince(first.startedAt)
            + Swift.max(interval, 3)
    }

    /// Seconds between the starts of consecutive requests.
    var gaps: [TimeInterval] {
        zip(self, dropFirst()).map { $1.startedAt.timeIntervalSince($0.startedAt) }
    }
}
