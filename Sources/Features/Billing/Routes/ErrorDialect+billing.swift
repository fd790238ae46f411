import Formats
import HTTPServer
import Hummingbird

extension ErrorDialect {
    /// `{"Message":"…"}` (billwerk).
    static let billwerk = ErrorDialect { problem in
        problem.answer { writer in
            writer.beginObject()
            writer.member("Message", problem.message)
            writer.endObject()
        }
    } of: {
        $0.hasBytes(first: "/api/v1")
    }

    /// `{"error":"invalid_client","error_description":"…"}` (RFC 6749 section 5.2). It has one error, with 400, for
    /// everything that is wrong with a request.
    static let oauth = ErrorDialect { problem in
        let error =
            switch problem.code {
            case .unsupportedGrant: "unsupported_grant_type"
            case _ where problem.status == .unauthorized: "invalid_client"
            case _ where problem.status == .serviceUnavailable: "temporarily_unavailable"
            case _ where problem.status.kind == .serverError: "server_error"
            default: "invalid_request"
            }
        return problem.answer(challenge: Problem.basicChallenge) { writer in
            writer.beginObject()
            writer.member("error", error)
            writer.member("error_description", problem.message)
            writer.endObject()
        }
    } of: {
        $0.hasBytes(first: "/oauth/token")
    }
}
