import Formats
public import RelayCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An unverified push notification of Roku Pay (source: Roku, "Push notifications", "Push notifications (JWT)").
public struct RokuNotification: StoreSignal {
    public enum Form: Sendable, Equatable {
        /// A JSON Web Signature.
        case signed
        /// Plain JSON, whose sender cannot be verified.
        case unsigned
    }

    public let form: Form
    public let notification: StoreNotification

    /// Accepts signed messages without a transaction too, such as the dashboard's test message and types that Roku adds
    /// later. Roku repeats what is not accepted.
    ///
    /// - Throws: ``SignalError``.
    public init(body: [UInt8]) throws(SignalError) {
        let push = try RokuPush(body: body)
        form = push.form
        let content = push.message.flatMap { try? SignalText.decode(Content.self, from: $0) } ?? Content()
        let identity: String
        switch push.form {
        case .signed: identity = "roku\n\(push.key)"
        case .unsigned:
            guard let type = content.type, let transaction = content.transactionID,
                let responseKey = content.responseKey
            else {
                throw SignalError(
                    .notANotification,
                    "it is no notification of Roku's: transactionType, transactionId or responseKey is missing")
            }
            identity = "roku unsigned\n\(responseKey)\n\(transaction)\n\(type)"
        }
        var notification = StoreNotification(
            version: .one, identity: identity, uuid: push.form == .signed ? push.key : content.responseKey,
            type: content.type ?? push.otherType ?? "UNKNOWN", environment: .unknown,
            bundleID: content.channelID.map { BundleID($0) }, originalTransactionID: content.subscription,
            saidAt: content.saidAt)
        notification.store = .roku
        notification.responseKey = content.responseKey
        notification.isUnproven = push.form == .unsigned
        notification.isOver = content.isOver
        notification.refund = content.isGivenBack && !notification.isUnproven ? notification.refund(of: nil) : nil
        self.notification = notification
    }

    /// Roku's JSON with its personal data, to find a customer in it; nil if the body is no push.
    public static func message(of body: [UInt8]) -> [UInt8]? { (try? RokuPush(body: body))?.message }

    /// Roku's JSON with personal data replaced by `***`; nil if it is not an object.
    public static func payload(of body: [UInt8]) -> [UInt8]? {
        guard let message = (try? RokuPush(body: body))?.message,
            var members = try? SignalText.decode([String: AnyValue].self, from: message)
        else { return nil }
        for name in members.keys where personal.contains(name.lowercased()) { members[name] = .text("***") }
        return (try? JSONEncoder().encode(members)).map { Array($0) }
    }

    /// Personal fields of Instant Signup.
    private static let personal: Set = [
        "email", "zip", "gender", "firstname", "lastname", "birthmonth", "birthyear", "federationtoken", "pucid",
    ]
}

extension RokuNotification {
    private struct Content: Decodable {
        var type: String?
        var transactionID: String?
        var originalTransactionID: String?
        var channelID: String?
        var responseKey: String?
        var saidAt: Timestamp?
        var expiresAt: Timestamp?

        private enum Key: String, CodingKey {
            case transactionType, eventDate, expirationDate, responseKey
            case transactionID = "transactionId"
            case originalTransactionID = "originalTransactionId"
            case channelID = "channelId"
        }

        init() {}

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: Key.self)
            type = fields.text(.transactionType)
            transactionID = fields.text(.transactionID) ?? fields.integer(.transactionID).map(String.init)
            originalTransactionID =
                fields.text(.originalTransactionID) ?? fields.integer(.originalTransactionID).map(String.init)
            channelID = fields.text(.channelID) ?? fields.integer(.channelID).map(String.init)
            responseKey = fields.text(.responseKey)
            saidAt = fields.text(.eventDate).flatMap { Timestamp(external: $0) }
            expiresAt = fields.text(.expirationDate).flatMap { Timestamp(external: $0) }
        }

        /// Key of the subscription; nil for a credit. A refund or chargeback has a transaction id of its own, which is
        /// not a purchase's.
        var subscription: TransactionID? {
            guard let type, type != "Credit",
                let id = originalTransactionID ?? (isGivenBack ? nil : transactionID)
            else { return nil }
            return StorePlatform.roku.subscriptionKey(TransactionID(id))
        }

        var isGivenBack: Bool { type == "Refund" || type == "Chargeback" }

        /// Whether the subscription is over or running; nil if the notification says neither. A future cancellation
        /// only turns renewal off. A refund alone ends nothing: Roku then sends a cancellation.
        var isOver: Bool? {
            let hasEnded = zip(expiresAt, saidAt) { $0 <= $1 }
            switch type {
            case "Cancellation", "UpgradeCancellation": return hasEnded == true ? true : nil
            case "Sale", "UpgradeSale", "GraceRecovered", "OnHoldRecovered", "Resubscribe":
                return hasEnded == true ? nil : false
            default: return nil
            }
        }

        private func zip(_ left: Timestamp?, _ right: Timestamp?, _ compare: (Timestamp, Timestamp) -> Bool) -> Bool? {
            left.flatMap { left in right.map { compare(left, $0) } }
        }
    }

    /// Any JSON value, decoded in order to be encoded again.
    private enum AnyValue: Codable {
        case null
        case flag(Bool)
        case number(Double)
        case text(String)
        case list([AnyValue])
        case object([String: AnyValue])

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if value.decodeNil() {
                self = .null
            } else if let text = try? value.decode(String.self) {
                self = .text(text)
            } else if let flag = try? value.decode(Bool.self) {
                self = .flag(flag)
            } else if let number = try? value.decode(Double.self) {
                self = .number(number)
            } else if let members = try? value.decode([String: AnyValue].self) {
                self = .object(members)
            } else {
                self = .list(try value.decode([AnyValue].self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var value = encoder.singleValueContainer()
            switch self {
            case .null: try value.encodeNil()
            case .flag(let flag): try value.encode(flag)
            case .number(let number): try value.encode(number)
            case .text(let text): try value.encode(text)
            case .list(let list): try value.encode(list)
            case .object(let members): try value.encode(members)
            }
        }
    }
}
