/// What became of one purchase. Times are microseconds since 1970.
struct Purchase: Encodable, Sendable {
    var number: String
    var validationId: String
    var status: String
    var postedAt: Int64
    var acceptedAt: Int64
    var knownAt: Int64
    var polls: Int
}

/// The relay answered with what no purchase of a benchmark should meet.
struct UnexpectedAnswer: Error, CustomStringConvertible {
    var doing: String
    var answer: Answer

    var description: String { "\(doing): \(answer.status) \(answer.body.prefix(300))" }
}
