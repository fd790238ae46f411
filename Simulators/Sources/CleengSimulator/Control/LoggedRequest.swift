import SimulatorKit

/// One request as the simulator received it. Holds no token and no receipt.
struct LoggedRequest: Sendable {
    let sequence: Int
    let method: String
    let path: String
    let query: [NamedValue]
    let headers: [NamedValue]
    let token: TokenPresence
    let body: AnyJSON?
    let bodyBytes: Int
    /// nil for everything but notifications.
    let bodyDigest: String?
    /// nil for everything but well-formed notifications.
    let notice: StoreNotice?
    let customerEmail: EmailAddress?
    let startedAt: SimulatedTime
    var endedAt: SimulatedTime?
    var status: Int?
    var outcome = CallOutcome.inFlight
    /// nil unless the request forwards a purchase.
    var overlapped: Bool?
    let forward: Forward?
}

/// One request as the control API shows it.
struct RequestView: Encodable {
    let sequence: Int
    let method: String
    let path: String
    let query: [String: String]
    let headers: [String: String]
    let publisherToken: String
    let body: AnyJSON?
    let bodyBytes: Int
    let customerEmail: String?
    let startedAt: String
    let endedAt: String?
    let durationMilliseconds: Int64?
    let status: Int?
    let outcome: String
    let overlappedWithSamePurchase: Bool?
    let bodyDigest: String?
    let notificationType: String?
    let subtype: String?
    let notificationUUID: String?
    let originalTransactionId: String?
    /// In milliseconds since 1970, as the App Store writes it.
    let signedDate: Int64?

    init(_ request: LoggedRequest) {
        sequence = request.sequence
        method = request.method
        path = request.path
        query = Self.dictionary(request.query)
        headers = Self.dictionary(request.headers)
        publisherToken = request.token.rawValue
        body = request.body
        bodyBytes = request.bodyBytes
        customerEmail = request.customerEmail?.text
        startedAt = request.startedAt.iso8601
        endedAt = request.endedAt?.iso8601
        durationMilliseconds = request.endedAt?.milliseconds(since: request.startedAt)
        status = request.status
        outcome = request.outcome.rawValue
        overlappedWithSamePurchase = request.overlapped
        bodyDigest = request.bodyDigest
        notificationType = request.notice?.type
        subtype = request.notice?.subtype
        notificationUUID = request.notice?.uuid
        originalTransactionId = request.notice?.originalTransactionId
        signedDate = (request.notice?.signedAt?.microseconds).map { $0 / 1_000 }
    }

    private static func dictionary(_ items: [NamedValue]) -> [String: String] {
        Dictionary(items.map { ($0.name, $0.value) }) { "\($0), \($1)" }
    }
}

/// Removes receipts, signed texts, tokens and passwords from a logged body, and bounds the rest.
struct BodyRedaction: Sendable {
    let receipt: ReceiptSummary?
    let publisherToken: String

    /// Limit of values logged from one body.
    static let limit = 200
    /// Fields of notifications with the same content as a receipt.
    private static let signed: Set = ["signedPayload", "latest_receipt"]
    /// Fields of payments by which a store can be asked about the purchase.
    private static let receipts: Set = ["receiptData", "purchaseToken", "receiptId"]

    func shown(_ value: AnyJSON) -> AnyJSON {
        var budget = Self.limit
        return shown(value, key: "", &budget)
    }

    private func shown(_ value: AnyJSON, key: String, _ budget: inout Int) -> AnyJSON {
        budget -= 1
        guard budget >= 0 else { return .string("…") }
        // The secret of version 1 notifications, whatever its type.
        if key == "password", !value.isNull { return .string(TokenPresence.present.rawValue) }
        switch value {
        case .string(let text) where Self.receipts.contains(key):
            let isWhole = key == "receiptData" ? receipt : nil
            let summary = isWhole ?? ReceiptSummary(receiptData: text, originalTransactionId: nil)
            return .object([
                "sha256": .string(summary.sha256), "length": .int(Int64(summary.length)),
                "originalTransactionId": .optional(summary.originalTransactionId),
            ])
        case .string(let text) where Self.signed.contains(key):
            let summary = ReceiptSummary(receiptData: text, originalTransactionId: nil)
            return .object(["sha256": .string(summary.sha256), "length": .int(Int64(summary.length))])
        case .string(let text) where key == "publisherToken":
            return .string(TokenPresence(text, expected: publisherToken).rawValue)
        case .string(let text):
            return .string(Self.bounded(text))
        case .array(let elements):
            var kept: [AnyJSON] = []
            for element in elements where budget > 0 { kept.append(shown(element, key: key, &budget)) }
            return .array(kept)
        case .object(let fields):
            var kept: [String: AnyJSON] = [:]
            for (name, field) in fields where budget > 0 {
                kept[Self.bounded(name)] = shown(field, key: name, &budget)
            }
            return .object(kept)
        case .null, .bool, .int, .double:
            return value
        }
    }

    static func bounded(_ text: String) -> String {
        text.utf8.count <= 512 ? text : String(text.prefix(256)) + "…"
    }
}

/// Everything that is shown of a publisher token.
enum TokenPresence: String, Sendable {
    case present
    case wrong
    case absent

    init(_ token: String?, expected: String) {
        self = token.map { $0 == expected ? .present : .wrong } ?? .absent
    }
}

extension FormItems {
    /// Shortened for the log.
    var bounded: [NamedValue] {
        items.map { NamedValue(name: BodyRedaction.bounded($0.name), value: BodyRedaction.bounded($0.value)) }
    }

    /// An email in a control call. Emails contain no spaces, so a space is read as an unencoded plus sign.
    func email(_ name: String) -> EmailAddress? {
        self[name].flatMap { EmailAddress($0.split(separator: " ").joined(separator: "+")) }
    }
}
