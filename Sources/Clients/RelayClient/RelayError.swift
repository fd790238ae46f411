import Foundation

/// Why a call of ``RelayClient`` failed.
public struct RelayError: Error, Sendable, Hashable {
    public var code: Code
    /// Explanation for logs and developers.
    public var detail: String
    /// HTTP status of the answer; nil if none came.
    public var httpStatus: Int?
    /// Every invalid field, if the code is ``Code/invalidFields``.
    public var errors: [FieldError]
    /// How long the relay asks the client to wait.
    public var retryAfter: Duration?
    /// Id of the request in the relay's log.
    public var requestID: String?
    /// Whether the relay may have the purchase although the answer was lost. To find out, post the same purchase again;
    /// that does no harm. If false, the relay does not have it.
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

    /// Whether the same request may succeed later. If false, its cause must be fixed first.
    public var isRetryable: Bool {
        switch httpStatus {
        case nil: code == .unreachable || code == .connectionLost || code == .noOutcome
        // A success that is not in the relay's format: a proxy answered instead.
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

extension RelayError {
    /// Creates an error from an unsuccessful answer.
    init(_ answer: RelayAnswer) {
        let problem = try? JSONDecoder().decode(ProblemDocument.self, from: answer.body)
        self.init(
            problem.map { Code(rawValue: $0.code) } ?? .notUnderstood,
            problem?.detail ?? problem?.title ?? "answered with HTTP \(answer.status)", httpStatus: answer.status,
            errors: (problem?.errors ?? []).map {
                FieldError(field: $0.field ?? "", code: $0.code ?? "", detail: $0.detail ?? "")
            },
            retryAfter: answer.retryAfter, requestID: answer.header("X-Request-Id"))
    }

    /// Creates an error for a request without an answer.
    init(noAnswer error: any Error) {
        let isUnsent = (error as? URLError).map { Self.beforeAnythingWasSent.contains($0.code) } ?? false
        self.init(isUnsent ? .unreachable : .connectionLost, error.localizedDescription)
    }

    private static let beforeAnythingWasSent: Set<URLError.Code> = [
        .badURL, .unsupportedURL, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .notConnectedToInternet,
        .dataNotAllowed, .internationalRoamingOff, .callIsActive, .secureConnectionFailed,
        .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
        .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired,
    ]

    /// Whether the purchase may be in the relay's database despite this answer.
    var leavesOpenWhetherTaken: Bool {
        switch httpStatus {
        case nil: code == .connectionLost
        case .some(200..<300): true
        // The purchase was posted before, with this key and other bytes.
        case .some(422): code == .idempotencyKeyReused
        case .some(500...): code != .overloaded && code != .customerKeysUnavailable
        default: false
        }
    }
}

/// The readable part of an `application/problem+json` body (RFC 9457).
struct ProblemDocument: Decodable {
    struct Field: Decodable {
        var field: String?
        var code: String?
        var detail: String?
    }

    var code: String
    var title: String?
    var detail: String?
    var errors: [Field]?
}

extension RelayError {
    /// One field that the relay did not accept.
    public struct FieldError: Sendable, Hashable {
        /// Its path in the body, such as `receipt.transactionId`; empty for the body as a whole.
        public var field: String
        /// `required`, `wrong_type`, `invalid`, `too_long`.
        public var code: String
        /// Explanation for developers.
        public var detail: String

        public init(field: String, code: String, detail: String) {
            self.field = field
            self.code = code
            self.detail = detail
        }
    }
}
