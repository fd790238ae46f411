package import HTTPServer
import HTTPTypes

extension ProblemCode {
    package static let invalidIdempotencyKey = ProblemCode(
        "invalid_idempotency_key", .badRequest, "The Idempotency-Key cannot be used")
    package static let missingKey = ProblemCode("missing_key", .unauthorized, "A key is required")
    package static let badSignature = ProblemCode("bad_signature", .unauthorized, "The signature is not good")
    package static let unknownKey = ProblemCode("unknown_key", .unauthorized, "The key is not known")
    package static let customerTokenRequired = ProblemCode(
        "customer_token_required", .unauthorized, "A customer token is required")
    package static let invalidCustomerToken = ProblemCode(
        "invalid_customer_token", .unauthorized, "The customer token is not valid")
    package static let wrongRole = ProblemCode("wrong_role", .forbidden, "The key does not open this")
    package static let anotherCustomer = ProblemCode("another_customer", .forbidden, "It is another customer's")
    package static let unknownValidation = ProblemCode("unknown_validation", .notFound, "The validation is not known")
    package static let unknownNotification = ProblemCode(
        "unknown_notification", .notFound, "The notification is not known")
    package static let unknownDelivery = ProblemCode("unknown_delivery", .notFound, "The message is not known")
    package static let unknownEvent = ProblemCode("unknown_event", .notFound, "The event is not known")
    package static let unknownSubscription = ProblemCode(
        "unknown_subscription", .notFound, "The subscription is not known")
    package static let endpointNotActive = ProblemCode(
        "endpoint_not_active", .conflict, "The endpoint takes no messages")
    package static let stateNotAllowed = ProblemCode("state_not_allowed", .conflict, "The state does not allow this")
    package static let superseded = ProblemCode(
        "superseded", .conflict, "A newer request for the same subscription was sent")
    package static let busy = ProblemCode("busy", .conflict, "Busy at this moment", retryAfter: 1)
    package static let receiptGone = ProblemCode("receipt_gone", .conflict, "The receipt is no longer kept")
    package static let idempotencyKeyReused = ProblemCode(
        "idempotency_key_reused", .unprocessableContent, "The Idempotency-Key was used for another body")
    package static let ownedByAnother = ProblemCode(
        "owned_by_another", .conflict, "Another customer has the subscription")
    package static let receiptNotGenuine = ProblemCode(
        "receipt_not_genuine", .unprocessableContent, "The receipt is not genuine")
    package static let notANotification = ProblemCode(
        "not_a_notification", .badRequest, "The body is not a notification")
    package static let notificationNotGenuine = ProblemCode(
        "notification_not_genuine", .forbidden, "The notification is not genuine, or not for here")
    package static let databaseUnavailable = ProblemCode(
        "database_unavailable", .serviceUnavailable, "The database is away", retryAfter: 2)
    package static let customerKeysUnavailable = ProblemCode(
        "customer_keys_unavailable", .serviceUnavailable, "Customer tokens cannot be verified now", retryAfter: 2)
    package static let storeUnavailable = ProblemCode(
        "store_unavailable", .serviceUnavailable, "The store cannot be asked now", retryAfter: 10)
}
