import SimulatorKit

/// What the simulator does for a customer, or, as upstream trouble, for everybody.
struct Behaviour: Sendable, Equatable {
    enum Grant: Sendable, Equatable {
        case after(milliseconds: Int64)
        case never
    }

    /// nil: as the default says.
    var grant: Grant?
    /// Whether the customer holds offers before any payment.
    var holdsStandardOffers = false
    var heldOffers: [OfferId] = []
    /// The status of what this customer is granted.
    var status = EntitlementStatus.active
    /// Whether what this customer is granted carries an expiry in the past.
    var expired = false
    /// What happens to calls that pass on a purchase.
    var payment = Disturbance()
    /// What happens to reads of entitlements and of synchronizations.
    var read = Disturbance()
    /// What happens to notifications about a subscription of the customer's.
    var notification = Disturbance()
    /// What happens to the customer's purchases of StoreKit 2.
    var storeKit2 = ConnectorBehaviour()
    /// What happens to the customer's purchases by the Google Play connector.
    var google = ConnectorBehaviour()
    /// What happens to the events that the customer causes.
    var webhook = WebhookBehaviour()
    /// The names as they were given.
    private(set) var names: [String] = []

    init() {}

    /// Reads the plus tags of an email. Unknown ones are left out: people have plus addresses of their own.
    init(plusTags tags: [Substring]) {
        for tag in tags { _ = adopt(tag) }
    }

    /// Reads names given through the control API, where an unknown one is a mistake.
    init(names: [String]) throws(ControlFault) {
        guard names.count <= 50 else { throw .invalid("at most 50 behaviours") }
        for name in names where !adopt(name[...]) {
            throw .invalid("unknown behaviour \"\(name.prefix(60))\"")
        }
    }

    /// Whether it does nothing but disturb calls: only such a behaviour can be upstream trouble.
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

/// What happens to the events that a customer causes.
struct WebhookBehaviour: Sendable, Equatable {
    /// Payments are taken in, never granted, and an event says so.
    var refuses = false
    /// Each event is delivered twice.
    var twice = false
    /// No event is sent.
    var lost = false
    var lateMilliseconds: Int64 = 0

    /// Adds what a name such as `twice` or `late-2s` means.
    /// - Returns: false, with nothing changed, where it means nothing.
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
