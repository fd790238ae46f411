/// One request as the control API shows it.
struct RequestView: Encodable {
    let sequence: Int
    let method: String
    let path: String
    let query: [String: String]
    let headers: [String: String]
    let publisherToken: String
    let body: JSONValue?
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
