package import Formats
package import Hummingbird

/// A form of error answers that clients of some paths expect, in place of `application/problem+json`.
///
/// The path alone decides, so that requests without a route get the right form too.
package struct ErrorDialect: Sendable {
    /// Receives a path, folded if it is one of ``Front/foldedPaths``.
    let covers: @Sendable (_ path: String) -> Bool
    let response: @Sendable (Problem) -> Response

    package init(
        _ response: @escaping @Sendable (Problem) -> Response, of covers: @escaping @Sendable (_ path: String) -> Bool
    ) {
        self.covers = covers
        self.response = response
    }
}

extension Problem {
    /// The answer in the form that a path's clients expect.
    func response(at path: String, _ dialects: [ErrorDialect]) -> Response {
        dialects.first { $0.covers(path) }?.response(self) ?? response
    }

    /// Writes an answer in a client-specific format.
    ///
    /// - Parameter challenge: challenge of a 401, if it is not Bearer.
    package func answer(challenge: String? = nil, _ write: (inout JSONWriter) -> Void) -> Response {
        var response = Response.json(status, write)
        for field in headers { response.headers[field.name] = field.value }
        if let challenge, headers[.wwwAuthenticate] != nil { response.headers[.wwwAuthenticate] = challenge }
        return response
    }

    /// Text for formats that have one line for all errors.
    package var message: String {
        errors.isEmpty
            ? detail : errors.map { "\($0.field.isEmpty ? "the body" : $0.field) \($0.detail)" }.joined(separator: "; ")
    }

    /// Challenge of a 401 where clients send their credentials by Basic.
    package static let basicChallenge = "Basic realm=\"receipt-relay\""
}
