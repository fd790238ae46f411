import Foundation

extension RelayError {
    /// Of an answer that is no success.
    init(_ answer: RelayAnswer) {
        let problem = try? JSONDecoder().decode(Problem.self, from: answer.body)
        self.init(
            problem.map { Code(rawValue: $0.code) } ?? .notUnderstood,
            problem?.detail ?? problem?.title ?? "answered with HTTP \(answer.status)", httpStatus: answer.status,
            errors: (problem?.errors ?? []).map {
                FieldError(field: $0.field ?? "", code: $0.code ?? "", detail: $0.detail ?? "")
            },
            retryAfter: answer.retryAfter, requestID: answer.header("X-Request-Id"))
    }

    /// Of a request without an answer.
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

    /// Whether a purchase that was answered so may be in the relay's database.
    var leavesOpenWhetherTaken: Bool {
        switch httpStatus {
        case nil: code == .connectionLost
        case .some(200..<300): true
        case .some(500...): code != .overloaded && code != .customerKeysUnavailable
        default: false
        }
    }
}
