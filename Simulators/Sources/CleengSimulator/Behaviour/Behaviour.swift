import SimulatorKit

/// The simulator's behaviour for one customer, or, as upstream trouble, for all customers.
struct Behaviour: Sendable, Equatable {
    enum Grant: Sendable, Equatable {
        case after(milliseconds: Int64)
        case never
    }

    /// nil: the default.
    var grant: Grant?
    /// Whether the customer holds offers before any payment.
    var holdsStandardOffers = false
    var heldOffers: [OfferId] = []
    /// Status of granted entitlements.
    var status = EntitlementStatus.active
    /// Whether granted entitlements have an expiry in the past.
    var expired = false
    /// Disturbance of calls that forward a purchase.
    var payment = Disturbance()
    /// Disturbance of reads of entitlements and synchronizations.
    var read = Disturbance()
    /// Disturbance of notifications about the customer's subscriptions.
    var notification = Disturbance()
    /// Behaviour for the customer's StoreKit 2 purchases.
    var storeKit2 = ConnectorBehaviour()
    /// Behaviour for the customer's purchases through the Google Play connector.
    var google = ConnectorBehaviour()
    /// Behaviour for events about the customer.
    var webhook = WebhookBehaviour()
    /// The names as given.
    private(set) var names: [String] = []

    init() {}

    /// Reads the plus tags of an email. Unknown tags are ignored, because people use plus addresses for other purposes.
    init(plusTags tags: [Substring]) {
        for tag in tags { _ = adopt(tag) }
    }

    /// Reads names from the control API, where an unknown name is an error.
    init(names: [String]) throws(ControlFault) {
        guard names.count <= 50 else { throw .invalid("at most 50 behaviours") }
        for name in names where !adopt(name[...]) {
            throw .invalid("unknown behaviour \"\(name.prefix(60))\"")
        }
    }

    /// Whether it only disturbs calls: only such a behaviour can be upstream trouble.
    var disturbsOnly: Bool {
        grant == nil && !holdsStandardOffers && heldOffers.isEmpty && status == .active && !expired
            && webhook == WebhookBehaviour() && storeKit2.refusesOnly && google.refusesOnly
    }

    private mutating func adopt(_ tag: Substring) -> Bool {
        let words = tag.lowercased().split(separator: "-", omittingEmptySubsequences: false)
        guard let name = words.first, adopt(String(name), words.dropFirst()) else { return false }
        names.append(String(tag))
        return true
    }

    private mutating func adopt(_ name: String, _ rest: ArraySlice<Substring>) -> Bool {
        switch (name, rest.count) {
        case ("after", 1), ("late", 1):
            guard let delay = rest.first.flatMap(Disturbance.milliseconds) else { return false }
            grant = .after(milliseconds: delay)
        case ("never", 0): grant = .never
        case ("entitled", 0): holdsStandardOffers = true
        case ("entitled", 1):
            guard let offer = rest.first.flatMap({ OfferId($0.uppercased()) }) else { return false }
            heldOffers.append(offer)
        case ("terminated", 0): status = .terminated
        case ("cancelled", 0): status = .cancelled
        case ("expired", 1) where rest.first == "active": expired = true
        case ("read", _): return read.adopt(rest)
        case ("notification", _): return notification.adopt(rest)
        case ("webhook", _): return webhook.adopt(rest)
        case ("storekit2", _): return storeKit2.adopt(rest, of: .storekit2)
        case ("google", _): return google.adopt(rest, of: .google)
        case ("garbage", _): return read.adopt([name[...]] + rest)
        case ("payment", _): return payment.adopt(rest)
        default: return payment.adopt([name[...]] + rest)
        }
        return true
    }
}

/// Behaviour for events about a customer.
struct WebhookBehaviour: Sendable, Equatable {
    /// Whether payments are accepted, but never granted, with an event that reports the refusal.
    var refuses = false
    /// Whether each event is delivered twice.
    var twice = false
    /// Whether no event is sent.
    var lost = false
    var lateMilliseconds: Int64 = 0

    /// Adds the behaviour with a name such as `twice` or `late-2s`.
    /// - Returns: false, without a change, for an unknown name.
    mutating func adopt(_ words: ArraySlice<Substring>) -> Bool {
        switch (words.first, words.count) {
        case ("failed", 1): refuses = true
        case ("twice", 1): twice = true
        case ("lost", 1): lost = true
        case ("late", 2):
            guard let delay = words.last.flatMap(Disturbance.milliseconds) else { return false }
            lateMilliseconds = delay
        default: return false
        }
        return true
    }
}
