import Foundation

/// What the relay knows of one purchase.
public struct Validation: Sendable, Hashable, Identifiable {
    /// What became of it. Not a closed set: a newer relay may have further ones, all of them final.
    public struct Status: RawRepresentable, Sendable, Hashable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// Not decided yet.
        public static let pending = Status(rawValue: "pending")
        /// Reveal the content.
        public static let granted = Status(rawValue: "granted")
        /// Refused; ``Validation/reason`` says why.
        public static let rejected = Status(rawValue: "rejected")
        /// No grant came in the time allowed: assume that it failed.
        public static let timedOut = Status(rawValue: "timed_out")
        /// Was granted; the subscription belongs to another email now.
        public static let transferred = Status(rawValue: "transferred")
        /// Was granted; since refunded, revoked or expired.
        public static let revoked = Status(rawValue: "revoked")

        /// No poll need follow. It may change all the same, days later: ask again at the app's next start.
        public var isFinal: Bool { self != .pending }
    }

    /// A thing that the relay noticed and did not refuse, such as a coupon that it left out.
    public struct Warning: Sendable, Hashable, Decodable {
        public var field: String
        public var code: String
        public var detail: String
    }

    /// 38 hexadecimal digits. Keep it on the device while it is pending.
    public var id: String
    public var status: Status
    /// Whether the content may be revealed: the one thing to go by.
    public var accessGranted: Bool
    public var offer: String
    /// Why it is rejected, timed out or revoked, where that is known.
    public var reason: String?
    public var receivedAt: Date
    public var settledAt: Date?
    /// From here on it is never pending, by the relay's clock.
    public var deadline: Date
    /// Settled after the deadline.
    public var isLate: Bool
    /// When access ends unless it is renewed, where that is known.
    public var expiresAt: Date?
    /// In the answer to a purchase only.
    public var warnings: [Warning]

    /// What the app does about it; nil while it is pending.
    public var outcome: Outcome? {
        if accessGranted { return .granted(until: expiresAt, late: isLate) }
        switch status {
        case .pending: return nil
        case .timedOut: return .assumeFailed
        case .rejected, .transferred, .revoked: return .refused(reason: reason)
        default: return .refused(reason: reason ?? status.rawValue)
        }
    }

    /// Whether it says the same about the purchase; warnings stand in one answer and not in the next.
    func tellsTheSame(as other: Validation) -> Bool {
        status == other.status && accessGranted == other.accessGranted && reason == other.reason
            && settledAt == other.settledAt && isLate == other.isLate && expiresAt == other.expiresAt
    }
}
