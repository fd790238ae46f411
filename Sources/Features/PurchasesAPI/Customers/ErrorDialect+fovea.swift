import Formats
import HTTPServer
import Hummingbird

extension ErrorDialect {
    /// `{"ok":false,"status":401,"code":"InvalidCredentials","message":"Error: …"}` (Fovea).
    static let fovea = ErrorDialect { problem in
        problem.answer(challenge: Problem.basicChallenge) { writer in
            writer.beginObject()
            writer.member("ok", false)
            writer.member("status", problem.status.code)
            writer.member("code", code(of: problem))
            writer.member("message", "Error: \(problem.message)")
            writer.endObject()
        }
    } of: {
        $0.hasBytes(first: "/v2/")
    }

    /// One of the few codes that Fovea's clients distinguish.
    private static func code(of problem: Problem) -> String {
        switch problem.status {
        case .unauthorized: "InvalidCredentials"
        case .forbidden: "Forbidden"
        case .notFound: "NotFound"
        case .methodNotAllowed: "MethodNotAllowed"
        case .contentTooLarge: "PayloadTooLarge"
        case .tooManyRequests: "TooManyRequests"
        case .serviceUnavailable: "ServiceUnavailable"
        case .internalServerError: "InternalError"
        default: "InvalidPayload"
        }
    }
}
