/// The simulator's data on one email.
struct Customer: Sendable {
    /// Origin of the behaviour: a new default applies only to customers who have the default.
    enum BehaviourSource: Sendable, Equatable {
        case plusTags
        case control
        case standard(generation: Int)
    }

    static let entitlementLimit = 500

    let email: EmailAddress
    /// Nine digits, as Cleeng's are.
    let id: Int
    let firstSeenAt: SimulatedTime
    /// Cleeng knows a customer once a payment was accepted or the customer was registered.
    var isKnown = false
    var lastAddress: String?
    var behaviour = Behaviour()
    var source = BehaviourSource.plusTags
    private(set) var entitlements: [Entitlement] = []
    var paymentsReceived = 0
    var paymentsAccepted = 0
    /// Registrations and transfers of connectors.
    var synchronizationsAccepted = 0
    var reads = ReadPace()
    var devices = DeviceLimiter()

    /// Whether any entitlement covers the offer.
    func isEntitled(to offer: OfferId) -> Bool {
        entitlements.contains { $0.status.entitles && offer.covers($0.offerId) }
    }

    /// The latest expiry of the entitlements that cover the offer.
    func expiry(of offer: OfferId) -> SimulatedTime? {
        entitlements.lazy.filter { $0.status.entitles && offer.covers($0.offerId) }.map(\.expiresAt).max()
    }

    /// The customer as shown in reads.
    func shown(at moment: SimulatedTime) -> Customer {
        var shown = self
        shown.entitlements.removeAll { $0.shownAt.map { $0 > moment } == true }
        return shown
    }

    mutating func add(_ entitlement: Entitlement) {
        if entitlements.count == Self.entitlementLimit {
            entitlements.remove(at: entitlements.firstIndex { !$0.status.entitles } ?? 0)
        }
        entitlements.append(entitlement)
    }

    /// Changes the entitlement of one subscription, if the customer has it.
    mutating func change(subscriptionId: Int, _ change: (inout Entitlement) -> Void) {
        guard let index = entitlements.lastIndex(where: { $0.subscriptionId == subscriptionId }) else { return }
        change(&entitlements[index])
    }
}

/// An email in the form for comparison: trimmed, ASCII letters in lower case, compared by bytes.
struct EmailAddress: Hashable, Sendable {
    /// Trimmed, ASCII letters in lower case, at most 320 bytes, one `@`, no white space inside.
    let text: String

    /// - Returns: nil if the text cannot be an email.
    init?(_ text: some StringProtocol) {
        guard text.utf8.count <= 640 else { return nil }
        let trimmed = Self.lowercased(Self.trim(text))
        let parts = trimmed.split(separator: "@", omittingEmptySubsequences: false)
        guard trimmed.utf8.count <= 320, parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        guard !trimmed.contains(where: \.isWhitespace) else { return nil }
        self.text = trimmed
    }

    static func == (left: EmailAddress, right: EmailAddress) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    private static func lowercased(_ text: String) -> String {
        String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// Parts between plus signs in the local part: `ana+flaky-2+after-3s@…` has `flaky-2` and `after-3s`.
    var plusTags: [Substring] {
        guard let at = text.firstIndex(of: "@") else { return [] }
        return Array(text[..<at].split(separator: "+").dropFirst().prefix(20))
    }

    private static func trim(_ text: some StringProtocol) -> String {
        let head = text.drop(while: \.isWhitespace)
        guard let last = head.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(head[...last])
    }
}

/// A customer's right to an offer. Cleeng has one for each subscription, so an offer can occur more than once.
struct Entitlement: Sendable {
    let subscriptionId: Int
    let originalTransactionId: String
    let offerId: OfferId
    var status: EntitlementStatus
    let grantedAt: SimulatedTime
    var expiresAt: SimulatedTime
    let appType: String
    /// The subscription that replaced this one, after a transfer or an upgrade.
    var replacedBy: Int?
    /// Time from which reads show it; nil: at once.
    var shownAt: SimulatedTime?
}

/// `active` and `cancelled` (will not renew) entitle, `terminated` does not, whatever the expiry is.
enum EntitlementStatus: String, Codable, Sendable {
    case active
    case cancelled
    case terminated

    var entitles: Bool { self != .terminated }
}

/// Intervals between entitlement reads of one customer.
struct ReadPace: Sendable {
    private(set) var count = 0
    private(set) var lastReadAt: SimulatedTime?
    /// The shortest time between two reads.
    private(set) var minGapMilliseconds: Int64?
    /// The same without intervals in which the customer posted a payment. A client may read once before it forwards a
    /// purchase and once right after, and still poll every five seconds.
    private(set) var minPollGapMilliseconds: Int64?
    private var paymentSinceLastRead = false

    mutating func notePayment() {
        paymentSinceLastRead = true
    }

    /// - Returns: the interval since the previous read, and whether no payment came between.
    mutating func noteRead(at now: SimulatedTime) -> (milliseconds: Int64, isPoll: Bool)? {
        defer {
            count += 1
            lastReadAt = max(lastReadAt ?? now, now)
            paymentSinceLastRead = false
        }
        guard let last = lastReadAt else { return nil }
        let gap = max(0, now.milliseconds(since: last))
        minGapMilliseconds = min(minGapMilliseconds ?? gap, gap)
        if !paymentSinceLastRead {
            minPollGapMilliseconds = min(minPollGapMilliseconds ?? gap, gap)
        }
        return (gap, !paymentSinceLastRead)
    }
}

/// A limit in Cleeng's `getAccessStatus`: four IP addresses for each customer, each counted for three hours, then error
/// 14.
struct DeviceLimiter: Sendable {
    static let addresses = 4
    static let holdMilliseconds: Int64 = 3 * 3_600_000

    private var heldUntil: [String: SimulatedTime] = [:]

    /// - Returns: false for a fifth address.
    mutating func admits(_ address: String, at now: SimulatedTime) -> Bool {
        heldUntil = heldUntil.filter { $0.value > now }
        guard heldUntil[address] != nil || heldUntil.count < Self.addresses else { return false }
        heldUntil[address] = now.adding(milliseconds: Self.holdMilliseconds)
        return true
    }
}
