import Foundation

/// An HTTP answer, ready to be written.
struct Reply: Sendable, Equatable {
    var status: Int
    /// nil for none.
    var body: Data?
    var retryAfter: String?
    var allow: String?

    init(status: Int) { self.status = status }

    init(status: Int = 200, json: some Encodable) {
        self.status = status
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(Moment.text(date))
        }
        // Encoding fails only for numbers that are not finite, which nothing here holds.
        body = (try? encoder.encode(json)) ?? Data("null".utf8)
    }

    static func notAllowed(_ methods: String...) -> Reply {
        var reply = Reply(status: 405)
        reply.allow = methods.joined(separator: ", ")
        return reply
    }
}
