/// How the API refuses, with Apple's codes (App Store Server API, "Error codes").
struct APIFault: Error, Equatable {
    let status: Int
    let code: Int
    let message: String

    var reply: Reply { Reply(status: status, json: Body(errorCode: code, errorMessage: message)) }

    static let badRequest = APIFault(status: 400, code: 4_000_000, message: "Bad request.")
    static let transactionId = APIFault(status: 400, code: 4_000_006, message: "Invalid transaction id.")
    static let tooFarInPast = APIFault(
        status: 400, code: 4_000_012, message: "The start date is earlier than the earliest allowed date.")
    static let startAfterEnd = APIFault(
        status: 400, code: 4_000_013, message: "The end date precedes the start date, or they are equal.")
    static let paginationToken = APIFault(status: 400, code: 4_000_014, message: "Invalid pagination token.")
    static let startDate = APIFault(status: 400, code: 4_000_015, message: "Invalid start date.")
    static let endDate = APIFault(status: 400, code: 4_000_016, message: "Invalid end date.")
    static let notificationType = APIFault(
        status: 400, code: 4_000_018, message: "Invalid notification type or subtype.")
    static let multipleFilters = APIFault(
        status: 400, code: 4_000_019, message: "Supply either a transaction id or a notification type, not both.")
    static let subscriptionStatus = APIFault(status: 400, code: 4_000_031, message: "Invalid status.")
    static let notFound = APIFault(status: 404, code: 4_040_010, message: "Transaction id not found.")
    static let rateLimit = APIFault(status: 429, code: 4_290_000, message: "Rate limit exceeded.")
    static let internalError = APIFault(status: 500, code: 5_000_000, message: "An unknown error occurred.")

    private struct Body: Encodable {
        let errorCode: Int
        let errorMessage: String
    }
}
