import Foundation
import Testing

/// Words that would reveal internals.
private let internals = [
    "SELECT", "INSERT", "UPDATE ", "validations_", "pkey", "libpq", "postgres", "PostgresError", "SQLSTATE", ".swift",
    "Sources/", "/home/", "/usr/", "/tmp/", "Hummingbird", "NIO", "Error(", "Fatal", "0x", Simulator.token,
]

/// Checks an error answer against the contract: RFC 9457's fields and `code`, a request id, and no internals.
func expectProblem(
    _ answer: HTTP.Answer, _ status: Int, _ code: String? = nil, _ what: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let comment = Comment(rawValue: "\(what) → \(answer.status) \(answer.text.prefix(300))")
    #expect(answer.status == status, comment, sourceLocation: sourceLocation)
    #expect(answer.header("Content-Type") == "application/problem+json", comment, sourceLocation: sourceLocation)
    #expect(answer.header("X-Request-Id")?.isEmpty == false, comment, sourceLocation: sourceLocation)
    let json = answer.json
    let required: Set = ["type", "title", "status", "detail", "code"]
    #expect(json.keys.subtracting(["errors"]) == required, comment, sourceLocation: sourceLocation)
    #expect(json["status"].int == status, comment, sourceLocation: sourceLocation)
    let found = json["code"].string ?? ""
    #expect(found.wholeMatch(of: /[a-z][a-z0-9_]*/) != nil, comment, sourceLocation: sourceLocation)
    if let code { #expect(found == code, comment, sourceLocation: sourceLocation) }
    for word in internals {
        let isIn = answer.text.contains(word) || answer.headers.contains { $0.value.contains(word) }
        #expect(!isIn, Comment(rawValue: "\(word) in \(answer.text.prefix(300))"), sourceLocation: sourceLocation)
    }
}

extension JSON {
    /// A problem's `errors` as `field code`, in the order of the names.
    var fieldErrors: [String] {
        (self["errors"].array ?? []).map { "\($0["field"].string ?? "?") \($0["code"].string ?? "?")" }.sorted()
    }
}
