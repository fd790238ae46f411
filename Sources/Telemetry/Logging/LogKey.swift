/// The keys of log metadata. A dashboard or an alert may rely on these names.
public enum LogKey: String, Sendable, Hashable, CaseIterable {
    case app
    case attempt
    case bucket
    case count
    /// An email, shortened by ``Redaction/shortened(email:)``; never a whole one.
    case customer
    case durationMs = "duration_ms"
    case error
    case event
    case instance
    case keyId = "key_id"
    case method
    case notificationId = "notification_id"
    case offer
    case path
    case publisher
    case reason
    case requestId = "request_id"
    case retryAfterMs = "retry_after_ms"
    case role
    case route
    case setting
    case state
    case status
    case subscription
    case traceId = "trace_id"
    case upstreamStatus = "upstream_status"
    case validationId = "validation_id"
    case webhookId = "webhook_id"
    case worker
}
