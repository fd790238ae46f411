import Foundation

/// Why a call of ``RelayClient`` came to nothing.
public struct RelayError: Error, Sendable, Hashable {
    public var code: Code
    /// In words, for logs and developers.
    public var detail: String
    /// Of the answer; nil where none came.
    public var httpStatus: Int?
    /// Every wrong field, where the code is ``Code/invalidFields``.
    public var errors: [FieldError]
    /// How long the relay asks to be left alone.
    public var retryAfter: Duration?
    /// The name of the request in the relay's log.
    public var requestID: String?
    /// Of a purchase: whether the relay may have it all the same, because an answer was lost. Posting the same purchase
    /// again does no harm and is how to find out. Where this is false, the relay does not have it.
    public var mayHaveBeenTaken: Bool

    public init(
        _ code: Code, _ detail: String, httpStatus: Int? = nil, errors: [FieldError] = [], retryAfter: Duration? = nil,
        requestID: String? = nil, mayHaveBeenTaken: Bool = false
    ) {
        self.code = code
        self.detail = detail
        self.httpStatus = httpStatus
        self.errors = errors
        self.retryAfter = retryAfter
        self.requestID = requestID
        self.mayHaveBeenTaken = mayHaveBeenTaken
    }

    /// Whether the same request may succeed later. Where not, something has to be mended first.
    public var isRetryable: Bool {
        switch httpStatus {
        case nil: code == .unreachable || code == .connectionLost || code == .noOutcome
        // A success in words that are not the relay's: something on the way has answered in its place.
        case .some(200..<300), 408, 425, 429: true
        case .some(let status): status >= 500
        }
    }
}

extension RelayError: LocalizedError, CustomStringConvertible {
    public var description: String {
        let fields = errors.map { "; \($0.field): \($0.detail)" }.joined()
        return "\(code.rawValue): \(detail)\(fields)"
    }

    public var errorDescription: String? { description }
}
