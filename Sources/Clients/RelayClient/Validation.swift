import Foundation

extension RelayClient {
    /// The relay's state of one purchase.
    public struct Validation: Sendable, Hashable, Identifiable {
        /// State of a validation. A newer relay may send other values; they are final.
        public struct Status: RawRepresentable, Sendable, Hashable {
            public let rawValue: String

            public init(rawValue: String) { self.rawValue = rawValue }

            /// Not decided yet.
            public static let pending = Status(rawValue: "pending")
            /// Reveal the content.
            public static let granted = Status(rawValue: "granted")
            /// Rejected; ``Validation/reason`` gives the reason.
            public static let rejected = Status(rawValue: "rejected")
            /// No grant within the time limit: assume that it failed.
            public static let timedOut = Status(rawValue: "timed_out")
            /// Was granted; the subscription now belongs to another email.
            public static let transferred = Status(rawValue: "transferred")
            /// Was granted; since refunded, revoked or expired.
            public static let revoked = Status(rawValue: "revoked")

            /// Whether polling can stop. The state may still change days later: ask again when the app starts.
            public var isFinal: Bool { self != .pending }
        }

        /// A problem that the relay noticed but accepted, such as an ignored coupon.
        public struct Warning: Sendable, Hashable, Decodable {
            public var field: String
            public var code: String
            public var detail: String
        }

        /// 38 hexadecimal digits. Store it on the device while the validation is pending.
        public var id: String
        public var status: Status
        /// Whether to reveal the content. Apps should rely on this alone.
        public var accessGranted: Bool
        public var offer: String
        /// Why it is rejected, timed out or revoked, if known.
        public var reason: String?
        public var receivedAt: Date
        public var settledAt: Date?
        /// The validation is never pending after this time, by the relay's clock.
        public var deadline: Date
        /// Whether it was settled after the deadline.
        public var isLate: Bool
        /// When access ends unless renewed, if known.
        public var expiresAt: Date?
        /// Only in the answer to a purchase.
        public var warnings: [Warning]

        /// What the app should do; nil while pending.
        public var outcome: Outcome? {
            if accessGranted { return .granted(until: expiresAt, late: isLate) }
            switch status {
            case .pending: return nil
            case .timedOut: return .assumeFailed
            case .rejected, .transferred, .revoked: return .refused(reason: reason)
            default: return .refused(reason: reason ?? status.rawValue)
            }
        }

        /// Whether both report the same state. Warnings are ignored, because only some answers contain them.
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
        // The answer to a pending purchase leaves out the rest.
        reason = try fields.decodeIfPresent(String.self, forKey: .reason)
        settledAt = try moment(.settledAt)
        isLate = try fields.decodeIfPresent(Bool.self, forKey: .late) ?? false
        expiresAt = try moment(.expiresAt)
        warnings = try fields.decodeIfPresent([Warning].self, forKey: .warnings) ?? []
    }
}

/// Parses `2026-11-20T10:00:00.000Z`; the fraction is optional.
enum Moment {
    static func parse(_ text: String) -> Date? {
        (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
            ?? (try? Date.ISO8601FormatStyle().parse(text))
    }
}

/// What an app should do about a purchase.
public enum Outcome: Sendable, Hashable {
    /// Reveal the content.
    ///
    /// - `until`: when access ends unless renewed; nil if unknown.
    /// - `late`: the grant came after the app had read `timed_out`.
    case granted(until: Date?, late: Bool)
    /// Access is not granted, and the app should tell the user. The reason is a code of the billing system or of the
    /// relay, such as `transferred`, `refunded` or `expired`; nil if unknown.
    case refused(reason: String?)
    /// No grant within the time limit: tell the user that it failed, and ask again when the app starts. A late grant is
    /// not lost.
    case assumeFailed
}
