import HTTPTypes

/// Stable codes of all errors that clients can get. Clients' code may rely on each.
package enum ProblemCode: String, Sendable, CaseIterable {
    case badRequest = "bad_request"
    case notJSON = "not_json"
    case invalidIdempotencyKey = "invalid_idempotency_key"
    case missingKey = "missing_key"
    case badSignature = "bad_signature"
    case unknownKey = "unknown_key"
    case customerTokenRequired = "customer_token_required"
    case invalidCustomerToken = "invalid_customer_token"
    case wrongRole = "wrong_role"
    case anotherCustomer = "another_customer"
    case notFound = "not_found"
    case unknownValidation = "unknown_validation"
    case unknownNotification = "unknown_notification"
    case unknownDelivery = "unknown_delivery"
    case unknownEvent = "unknown_event"
    case unknownSubscription = "unknown_subscription"
    case endpointNotActive = "endpoint_not_active"
    case methodNotAllowed = "method_not_allowed"
    case requestTimeout = "request_timeout"
    case stateNotAllowed = "state_not_allowed"
    case superseded
    case busy
    case receiptGone = "receipt_gone"
    case bodyTooLarge = "body_too_large"
    case unsupportedMediaType = "unsupported_media_type"
    case invalidFields = "invalid_fields"
    case idempotencyKeyReused = "idempotency_key_reused"
    case ownedByAnother = "owned_by_another"
    case receiptNotGenuine = "receipt_not_genuine"
    case notANotification = "not_a_notification"
    case notificationNotGenuine = "notification_not_genuine"
    case headersTooLarge = "headers_too_large"
    case internalError = "internal"
    case databaseUnavailable = "database_unavailable"
    case overloaded
    case customerKeysUnavailable = "customer_keys_unavailable"
    case alreadyOrdered = "already_ordered"
    case unsupportedGrant = "unsupported_grant"
    case storeUnavailable = "store_unavailable"
    case purchaseEnded = "purchase_ended"
    case formNotOurs = "form_not_ours"
    case rateLimited = "rate_limited"

    var status: HTTPResponse.Status {
        switch self {
        case .badRequest, .notJSON, .invalidIdempotencyKey, .notANotification, .unsupportedGrant: .badRequest
        case .badSignature, .missingKey, .unknownKey, .customerTokenRequired, .invalidCustomerToken: .unauthorized
        case .wrongRole, .anotherCustomer, .notificationNotGenuine, .formNotOurs: .forbidden
        case .notFound, .unknownValidation, .unknownNotification, .unknownDelivery, .unknownEvent, .unknownSubscription:
            .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .requestTimeout: .requestTimeout
        case .stateNotAllowed, .superseded, .busy, .receiptGone, .endpointNotActive, .alreadyOrdered,
            .ownedByAnother:
            .conflict
        case .bodyTooLarge: .contentTooLarge
        case .unsupportedMediaType: .unsupportedMediaType
        case .invalidFields, .idempotencyKeyReused, .receiptNotGenuine, .purchaseEnded: .unprocessableContent
        case .headersTooLarge: .requestHeaderFieldsTooLarge
        case .rateLimited: .tooManyRequests
        case .internalError: .internalServerError
        case .databaseUnavailable, .overloaded, .customerKeysUnavailable, .storeUnavailable: .serviceUnavailable
        }
    }

    /// RFC 9457 section 3.1.3: the title never differs between occurrences.
    var title: String {
        switch self {
        case .badRequest: "The request could not be read"
        case .notJSON: "The body is not JSON"
        case .invalidIdempotencyKey: "The Idempotency-Key cannot be used"
        case .missingKey: "A key is required"
        case .badSignature: "The signature is not good"
        case .unknownKey: "The key is not known"
        case .customerTokenRequired: "A customer token is required"
        case .invalidCustomerToken: "The customer token is not valid"
        case .wrongRole: "The key does not open this"
        case .anotherCustomer: "It is another customer's"
        case .notFound: "Nothing is here"
        case .unknownValidation: "The validation is not known"
        case .unknownNotification: "The notification is not known"
        case .unknownDelivery: "The message is not known"
        case .unknownEvent: "The event is not known"
        case .unknownSubscription: "The subscription is not known"
        case .endpointNotActive: "The endpoint takes no messages"
        case .methodNotAllowed: "The method is not allowed here"
        case .requestTimeout: "The request took too long to arrive"
        case .stateNotAllowed: "The state does not allow this"
        case .superseded: "A newer request for the same subscription was sent"
        case .busy: "Busy at this moment"
        case .receiptGone: "The receipt is no longer kept"
        case .bodyTooLarge: "The body is too large"
        case .unsupportedMediaType: "The body's media type is not supported"
        case .invalidFields: "Some fields are wrong"
        case .idempotencyKeyReused: "The Idempotency-Key was used for another body"
        case .ownedByAnother: "Another customer has the subscription"
        case .receiptNotGenuine: "The receipt is not genuine"
        case .notANotification: "The body is not a notification"
        case .notificationNotGenuine: "The notification is not genuine, or not for here"
        case .headersTooLarge: "The header fields are too large"
        case .internalError: "Something went wrong here"
        case .databaseUnavailable: "The database is away"
        case .overloaded: "Too much is waiting already"
        case .customerKeysUnavailable: "Customer tokens cannot be verified now"
        case .alreadyOrdered: "The subscription has a contract"
        case .unsupportedGrant: "The grant type is not supported"
        case .storeUnavailable: "The store cannot be asked now"
        case .purchaseEnded: "The purchase is over"
        case .formNotOurs: "The form cannot be trusted"
        case .rateLimited: "Too many requests"
        }
    }

    /// Seconds after which the same request may succeed; nil if a retry alone cannot help.
    var retryAfterSeconds: Int? {
        switch self {
        case .databaseUnavailable, .customerKeysUnavailable: 2
        case .overloaded, .busy, .rateLimited: 1
        case .storeUnavailable: 10
        default: nil
        }
    }
}
