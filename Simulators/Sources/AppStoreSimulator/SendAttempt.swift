import AppStoreSimulation

/// One attempt to deliver a notification (App Store Server API, `sendAttemptItem`).
struct SendAttempt: Sendable, Encodable {
    enum Result: String, Sendable, Encodable, CaseIterable {
        case success = "SUCCESS"
        case timedOut = "TIMED_OUT"
        case tlsIssue = "TLS_ISSUE"
        case circularRedirect = "CIRCULAR_REDIRECT"
        case noResponse = "NO_RESPONSE"
        case socketIssue = "SOCKET_ISSUE"
        case unsupportedCharset = "UNSUPPORTED_CHARSET"
        case invalidResponse = "INVALID_RESPONSE"
        case prematureClose = "PREMATURE_CLOSE"
        case unsuccessfulStatus = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
        case other = "OTHER"

        /// - Parameter status: nil where nothing answered.
        init(status: Int?) {
            guard let status else {
                self = .noResponse
                return
            }
            self = DeliverySchedule.isSuccess(status) ? .success : .unsuccessfulStatus
        }
    }

    /// In milliseconds since 1970.
    let attemptDate: Int64
    let sendAttemptResult: Result
}
