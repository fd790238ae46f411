import Foundation

extension RelayClient {
    /// What the relay knows of one purchase.
    public struct Validation: Sendable, Hashable, Identifiable {
        /// Its outcome. A newer relay may send other values; they are final.
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
        /// After this time it is never pending, by the relay's clock.
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
}

extension RelayClient.Validation: Decodable {
    private enum CodingKeys: String, CodingKey {
        case validationId, status, accessGranted, offerId, reason, receivedAt, settledAt, deadline, late, expiresAt
        case warnings
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        func moment(_ key: CodingKeys) throws -> Date? {
            guard let text = try fields.decodeIfPresent(String.self, forKey: key) else { return nil }
            return Moment.parse(text)
        }
        func required(_ key: CodingKeys) throws -> Date {
            guard let date = try moment(key) else {
                throw DecodingError.dataCorruptedError(forKey: key, in: fields, debugDescription: "not a moment")
            }
            return date
        }
        id = try fields.decode(String.self, forKey: .validationId)
        status = Status(rawValue: try fields.decode(String.self, forKey: .status))
        accessGranted = try fields.decode(Bool.self, forKey: .accessGranted)
        offer = try fields.decode(String.self, forKey: .offerId)
        receivedAt = try required(.receivedAt)
        deadline = try required(.deadline)
        // The answer to a purchase that is pending leaves out the rest.
        reason = try fields.decodeIfPresent(String.self, forKey: .reason)
        settledAt = try moment(.settledAt)
        isLate = try fields.decodeIfPresent(Bool.self, forKey: .late) ?? false
        expiresAt = try moment(.expiresAt)
        warnings = try fields.decodeIfPresent([Warning].self, forKey: .warnings) ?? []
    }
}

/// `2026-11-20T10:00:00.000Z`, the fraction being optional.
enum Moment {
    static func parse(_ text: String) -> Date? {
        (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
            ?? (try? Date.ISO8601FormatStyle().parse(text))
    }
}

/// What an app does about a purchase.
public enum Outcome: Sendable, Hashable {
    /// Reveal the content.
    ///
    /// - `until`: when access ends unless it is renewed; nil where that is not known.
    /// - `late`: it came after the app had read `timed_out`.
    case granted(until: Date?, late: Bool)
    /// Access is not given, and the user should learn of it. The reason is the billing system's code or one of the
    /// relay's, such as `transferred`, `refunded` or `expired`; nil where none is known.
    case refused(reason: String?)
    /// No grant came in the time allowed: tell the user that it failed, and look again at the next start of the app. A
    /// late grant is not lost.
    case assumeFailed
}
