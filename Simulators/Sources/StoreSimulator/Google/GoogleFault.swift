import SimulatorKit

/// The API's errors, in Google's format.
struct GoogleFault: Error {
    let code: Int
    let message: String
    let reason: String
    let status: String

    var reply: Reply {
        Reply(
            status: code,
            json: Body(
                error: Body.Inner(
                    code: code, message: message, errors: [Body.Item(message: message, reason: reason)],
                    status: status)))
    }

    static let credentials = GoogleFault(
        code: 401, message: "Request had invalid authentication credentials.", reason: "authError",
        status: "UNAUTHENTICATED")
    static let unknown = GoogleFault(
        code: 404, message: "The purchase token was not found.", reason: "purchaseTokenNotFound", status: "NOT_FOUND")
    static let gone = GoogleFault(
        code: 410, message: "The purchase token is no longer valid.", reason: "purchaseTokenNoLongerValid",
        status: "FAILED_PRECONDITION")

    static func invalid(_ message: String, reason: String = "invalid") -> GoogleFault {
        GoogleFault(code: 400, message: message, reason: reason, status: "INVALID_ARGUMENT")
    }

    private struct Body: Encodable {
        struct Item: Encodable {
            let message: String
            var domain = "androidpublisher"
            let reason: String
        }

        struct Inner: Encodable {
            let code: Int
            let message: String
            let errors: [Item]
            let status: String
        }

        let error: Inner
    }
}
