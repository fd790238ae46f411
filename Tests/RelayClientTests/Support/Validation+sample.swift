import Foundation

@testable import RelayClient

extension RelayClient.Validation {
    static func sample(
        _ status: Status, reason: String? = nil, allowance: TimeInterval = 60, late: Bool = false,
        expiresAt: Date? = nil
    ) -> RelayClient.Validation {
        let received = Date(timeIntervalSince1970: 1_800_000_000)
        return RelayClient.Validation(
            id: "db512ae90962e50029b3cde998eae7196ee1b1", status: status, accessGranted: status == .granted,
            offer: "S123456789_US", reason: reason, receivedAt: received,
            settledAt: status.isFinal ? received + 5 : nil, deadline: received + allowance, isLate: late,
            expiresAt: expiresAt, warnings: [])
    }
}

extension RelayError {
    static let lost = RelayError(.connectionLost, "the connection was lost")
    static let refused = RelayError(.unreachable, "no connection")

    static func unavailable(retryAfter: Duration? = nil) -> RelayError {
        RelayError(.databaseUnavailable, "the database is away", httpStatus: 503, retryAfter: retryAfter)
    }
}
