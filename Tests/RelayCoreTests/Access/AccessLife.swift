import RelayCore
import TestSupport

/// A subscription's life in three systems: the store that sells it, Cleeng that follows with a delay, and a relay. The
/// relay receives the statements of both late, twice, in any order or never.
struct AccessLife {
    /// A fault that is planted to see that the checks notice it.
    enum Fault: CaseIterable {
        /// Cleeng's statement about one offer is applied to all offers.
        case wordsOfAllOffers
        /// A former offer is never asked about again.
        case leftOffersForgotten
        /// Missing statements of Cleeng count as a yes.
        case silenceIsYes
        /// Missing statements of Cleeng count as a no.
        case silenceIsNo
        /// An end that Cleeng stated is not checked when it comes.
        case cleengsEndForgotten
        /// An end counts from its arrival, not from the time of the statement.
        case endsByArrival
        /// Every grant takes the subscription from its owner.
        case everyGrantTakes
        /// Every grant is made on the subscription, even if another customer owns it.
        case everyGrantStands
        /// A grant without a date counts as access without an end.
        case unsaidEndIsNone
    }

    struct Grant {
        var customer: String
        var offer: OfferID
        var acceptedAt: Timestamp
        /// Whether the grant is on this subscription; false if it rests on Cleeng's statement alone.
        var isOfSubscription = true
        var runs = true
        var reason: String?
    }

    static let hour = Duration.seconds(3_600)
    static let day = Duration.seconds(86_400)
    static let leeway = hour
    static let products: [ProductID] = ["cheap", "dear", "side"]
    static let customers = ["ana", "bob"]
    /// Time after a grant in which reads of other customers prove nothing.
    static let unsettled = Duration.seconds(60)

    private var generator: SeededGenerator
    private let fault: Fault?
    private let hasCatalogue: Bool
    private let isPass: Bool
    /// Whether Cleeng states the ends of entitlements, and not only that they exist.
    private let namesEnds: Bool
    private(set) var now = Timestamp(seconds: 1_800_000_000)
    private(set) var story: [String] = []
    private(set) var problems: [String] = []

    // The store.
    private var periods: [LedgerPeriod] = []
    private var willRenew = true
    private var nextProduct: ProductID = "cheap"
    private var renewalDue: Timestamp?

    // Cleeng's owner and entitlements, which follow the store with a delay.
    private var cleengOwner = "ana"
    private var entitled: [OfferID: (since: Timestamp, until: Timestamp?)] = [:]
    /// Entitlements through other purchases than this subscription.
    private var ownEntitlements: [String: Set<OfferID>] = [:]

    // The relay.
    private var ledger = SubscriptionLedger()
    private var grants: [Grant] = []
    private var owner: (customer: String, acceptedAt: Timestamp, grantedAt: Timestamp)?
    private var dueAt: Timestamp?
    private var saidUntil: Timestamp?

    // MARK: Pending events
    private enum Event {
        case renewal, cleengFollows
        case word(LedgerStatement)
        case cleengEvent(OfferID)
        case look
        case read(Request)
        case act
    }
    private var queue: [(at: Timestamp, order: Int, event: Event)] = []
    private var order = 0

    init(seed: UInt64, fault: Fault? = nil) {
        generator = SeededGenerator(seed: seed)
        self.fault = fault
        hasCatalogue = seed.isMultiple(of: 3) == false
        isPass = seed % 7 == 0
        namesEnds = seed % 25 != 0
    }

    // MARK: Running

    mutating func run() {
        buy()
        for _ in 0..<Int.random(in: 4...14, using: &generator) { at(.days(0...50, &generator), .act) }
        let end = now + Self.day * 120
        while let next = queue.min(by: { ($0.at, $0.order) < ($1.at, $1.order) }), next.at <= end, problems.isEmpty {
            queue.removeAll { $0.order == next.order }
            now = max(now, next.at)
            handle(next.event)
            check()
        }
        guard problems.isEmpty else { return }
        now = end
        check()
    }

    private mutating func at(_ delay: Duration, _ event: Event) {
        order += 1
        queue.append((now + delay, order, event))
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    private mutating func note(_ text: String) {
        story.append("\((now - Timestamp(seconds: 1_800_000_000)) / Self.hour) h: \(text)")
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .renewal: renew()
        case .cleengFollows: follow()
        case .word(let word): hear(word, "a word of the store")
        case .cleengEvent(let offer): ask([offer], "an event of Cleeng")
        case .look:
            guard let dueAt, dueAt <= now else { return }
            hear(nil, "its time")
        case .act: act()
        case .read(let request): read(request)
        }
    }

    // MARK: The store

    private func offer(of product: ProductID) -> OfferID { OfferID("offer-\(product)") }

    private var running: LedgerPeriod? {
        periods.filter {
            $0.revocation == nil && !$0.isUpgraded && $0.purchasedAt <= now && ($0.expiresAt.map { $0 > now } ?? true)
        }
        .max { $0.purchasedAt < $1.purchasedAt }
    }

    private mutating func buy() {
        nextProduct = Self.products.randomElement(using: &generator) ?? "cheap"
        add(nextProduct, from: now)
        post("ana")
    }

    private mutating func add(_ product: ProductID, from start: Timestamp, replaces: Bool = false) {
        let end = isPass ? nil : start + Self.day * 30
        let period = LedgerPeriod(
            id: TransactionID("\(periods.count + 1)"), productID: product, purchasedAt: start, expiresAt: end,
            replacesEarlier: replaces, statedAt: now)
        periods.append(period)
        note("the store: \(product) from now\(replaces ? ", an upgrade" : "")")
        tell()
        if let end {
            renewalDue = end
            at(end - now, .renewal)
        }
    }

    private mutating func renew() {
        guard let due = renewalDue, due <= now, !isPass else { return }
        renewalDue = nil
        guard willRenew else {
            note("the store: over")
            tell(isOver: true)
            return
        }
        add(nextProduct, from: now)
    }

    /// Notifications arrive late, twice or never.
    private mutating func tell(isOver: Bool = false) {
        at(.hours(0...2, &generator), .cleengFollows)
        guard let newest = periods.last else { return }
        var told = newest
        told.statedAt = now
        var word = LedgerStatement(
            periods: [told],
            renewal: isPass ? nil : LedgerRenewal(willRenew: willRenew, productID: nextProduct, statedAt: now))
        if isOver { word.end = LedgerEnd(isOver: true, until: newest.expiresAt, statedAt: now) }
        let times = chance(20) ? 0 : chance(10) ? 2 : 1
        for _ in 0..<times { at(chance(70) ? .hours(0...1, &generator) : .days(0...4, &generator), .word(word)) }
    }

    // MARK: Cleeng

    private mutating func follow() {
        let now = now
        let before = Set(entitled.keys)
        var after: [OfferID: (since: Timestamp, until: Timestamp?)] = [:]
        if let running {
            let offer = offer(of: running.productID)
            let until = isPass ? running.purchasedAt + Self.day * 20 : running.expiresAt
            if until.map({ $0 > now }) ?? true { after[offer] = (entitled[offer]?.since ?? now, until) }
        }
        entitled = after
        for offer in before.symmetricDifference(after.keys) where chance(70) {
            at(.hours(0...3, &generator), .cleengEvent(offer))
        }
        if let until = after.values.compactMap(\.until).max() { at(until - now + Self.hour, .cleengFollows) }
    }

    private func isEntitled(_ customer: String, _ offer: OfferID) -> (Bool, Timestamp?) {
        if ownEntitlements[customer]?.contains(offer) == true { return (true, nil) }
        guard customer == cleengOwner, let one = entitled[offer] else { return (false, nil) }
        // Cleeng renews with a delay. Until then, it reports a running subscription.
        return (true, one.until)
    }

    // MARK: Customers and apps

    private mutating func act() {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0,
            1 where !isPass:
            // An upgrade, or a change to a product of the same level: both take effect at once.
            guard let running, running.productID != "side" else { return }
            periods[periods.count - 1].isUpgraded = true
            nextProduct = running.productID == "cheap" ? "dear" : "side"
            add(nextProduct, from: now, replaces: true)
        case 2 where !isPass:
            nextProduct = "cheap"
            note("the store: cheap from the next renewal on")
            tell()
        case 3 where !isPass:
            willRenew.toggle()
            note("the store: renewal \(willRenew ? "on" : "off")")
            tell()
        case 4:
            guard running != nil else { return }
            periods[periods.count - 1].revocation = .init(at: now, kind: .refunded)
            willRenew = false
            renewalDue = nil
            note("the store: refunded")
            tell()
        case 5: post("bob")
        case 6:
            let customer = Self.customers.randomElement(using: &generator) ?? "ana"
            let offer = offer(of: Self.products.randomElement(using: &generator) ?? "cheap")
            if ownEntitlements[customer, default: []].remove(offer) == nil { ownEntitlements[customer]?.insert(offer) }
            note("\(customer) has \(offer) on the web: \(ownEntitlements[customer]?.contains(offer) == true)")
        case 7 where running == nil && !isPass:
            willRenew = true
            add(nextProduct, from: now)
        default: post("ana")
        }
    }

    /// A posted purchase, until its outcome is known.
    private struct Request {
        var customer: String
        var offer: OfferID
        var acceptedAt: Timestamp
        var entitledBefore: Bool
        /// Time at which Cleeng processes it, possibly long after its answer was lost.
        var takenAt: Timestamp
        var isTaken = false
    }

    /// An app posts the receipt. Cleeng gives the subscription to any customer who does not have the offer yet.
    private mutating func post(_ customer: String) {
        guard let running else { return }
        let offer = offer(of: running.productID)
        let lost = chance(25) ? Duration.seconds(60 * Int.random(in: 2...240, using: &generator)) : .zero
        at(
            .seconds(90),
            .read(
                Request(
                    customer: customer, offer: offer, acceptedAt: now, entitledBefore: isEntitled(customer, offer).0,
                    takenAt: now + lost)))
    }

    private mutating func read(_ request: Request) {
        var request = request
        if !request.isTaken, request.takenAt <= now {
            request.isTaken = true
            if !request.entitledBefore, cleengOwner != request.customer {
                note("Cleeng passes it to \(request.customer)")
                cleengOwner = request.customer
            }
            follow()
        }
        func again(_ pause: Duration) {
            guard now - request.acceptedAt < Self.day else { return }
            at(pause, .read(request))
        }
        let (isGranted, until) = isEntitled(request.customer, request.offer)
        guard isGranted else { return again(.seconds(300)) }
        let other = owner.flatMap { $0.customer == request.customer ? nil : $0 }
        let against = other.map {
            OwnershipClaim.Owner(
                acceptedAt: $0.acceptedAt, since: $0.grantedAt, unsettledUntil: $0.grantedAt + Self.unsettled)
        }
        var claim = OwnershipClaim(
            acceptedAt: request.acceptedAt, observedAt: now, entitledBefore: request.entitledBefore, isProven: false)
        var verdict = claim.judge(against: against)
        if verdict == .asksOfOwner, let other {
            claim.ownerReading = .init(isEntitled: isEntitled(other.customer, request.offer).0, observedAt: now)
            verdict = claim.judge(against: against)
        }
        if fault == .everyGrantTakes { verdict = .takes }
        var grant = Grant(customer: request.customer, offer: request.offer, acceptedAt: request.acceptedAt)
        switch verdict {
        case .takes:
            if let other, fault != .everyGrantStands {
                for index in grants.indices
                where grants[index].customer == other.customer && grants[index].isOfSubscription {
                    // The relay's owner is not Cleeng's.
                    if grants[index].runs, cleengOwner == other.customer { checkEnd(of: grants[index]) }
                    grants[index].runs = false
                    grants[index].reason = "transferred"
                }
            }
            owner = (request.customer, max(request.acceptedAt, owner?.acceptedAt ?? request.acceptedAt), now)
        case .standsAlone: grant.isOfSubscription = false
        case .readsAgain, .asksOfOwner: return again(.seconds(60))
        }
        note("\(grant.customer) is granted \(grant.offer)\(grant.isOfSubscription ? "" : ", by something else")")
        grants.append(grant)
        guard grant.isOfSubscription else { return }
        var word = LedgerStatement(granted: LedgerGrant(offer: grant.offer, at: now))
        if var told = periods.last(where: { $0.purchasedAt <= request.acceptedAt }), told.revocation == nil {
            // State at the time of the receipt.
            told.isUpgraded = false
            told.statedAt = told.purchasedAt
            word.periods = [told]
        }
        word.cleeng[grant.offer] = stated(until)
        hear(word, "a grant")
    }

    /// Cleeng's statement of an entitlement.
    private mutating func stated(_ until: Timestamp?) -> LedgerEnd {
        guard !namesEnds else {
            if let until { saidUntil = max(saidUntil ?? until, until) }
            return LedgerEnd(isOver: false, until: until, statedAt: now)
        }
        saidUntil = max(saidUntil ?? now, now)
        return fault == .unsaidEndIsNone ? LedgerEnd(isOver: false, statedAt: now) : .runs(statedAt: now)
    }

    // MARK: The relay

    private mutating func hear(_ word: LedgerStatement?, _ why: String) {
        if var word {
            if fault == .endsByArrival, word.end != nil { word.end = LedgerEnd(isOver: true, statedAt: now) }
            ledger.apply(word)
            for period in word.periods { if let end = period.expiresAt { saidUntil = max(saidUntil ?? end, end) } }
        }
        if hasCatalogue {
            ledger.setOffers(Dictionary(uniqueKeysWithValues: Self.products.map { ($0, [offer(of: $0)]) }))
        }
        settle(why, asksAllowed: true)
    }

    private mutating func settle(_ why: String, asksAllowed: Bool) {
        guard let owner else { return }
        let own = grants.indices.filter {
            grants[$0].isOfSubscription && grants[$0].customer == owner.customer && grants[$0].reason != "transferred"
        }
        var offers = Set(own.map { grants[$0].offer })
        if fault == .leftOffersForgotten,
            let present = SubscriptionAccess(ledger, granted: [], at: now, leeway: Self.leeway).present
        {
            offers = offers.intersection([present])
        }
        let access = SubscriptionAccess(ledger, granted: offers, at: now, leeway: Self.leeway)
        for index in own {
            switch access.verdicts[grants[index].offer] {
            case .goesOn: (grants[index].runs, grants[index].reason) = (true, nil)
            case .ends(let reason):
                if grants[index].runs {
                    note("\(grants[index].customer) loses \(grants[index].offer): \(reason), at \(why)")
                    checkEnd(of: grants[index])
                }
                (grants[index].runs, grants[index].reason) = (false, reason)
            case nil: break
            }
        }
        dueAt = access.nextLookAt
        if fault == .cleengsEndForgotten, isPass { dueAt = nil }
        if asksAllowed, !access.questions.isEmpty { return ask(access.questions, why) }
        if let dueAt { at(max(dueAt - now, .seconds(60)), .look) }
    }

    private mutating func ask(_ offers: Set<OfferID>, _ why: String) {
        guard let owner else { return }
        var word = LedgerStatement()
        if chance(15) {
            note("Cleeng is away")
            switch fault {
            case .silenceIsYes: for offer in offers { word.cleeng[offer] = LedgerEnd(isOver: false, statedAt: now) }
            case .silenceIsNo: for offer in offers { word.cleeng[offer] = LedgerEnd(isOver: true, statedAt: now) }
            default:
                dueAt = now + .seconds(600)
                return at(.seconds(600), .look)
            }
        } else {
            for offer in offers {
                let (isEntitled, until) = isEntitled(owner.customer, offer)
                word.cleeng[offer] =
                    isEntitled
                    ? stated(until) : LedgerEnd(isOver: true, until: ledger.lastKnownEnd, statedAt: now)
                note("Cleeng on \(offer) of \(owner.customer): \(isEntitled)")
            }
        }
        if fault == .wordsOfAllOffers, let one = word.cleeng.values.first {
            word.end = one
        }
        ledger.apply(word)
        settle("\(why), asked", asksAllowed: false)
    }

    // MARK: What must hold

    private mutating func problem(_ text: String) { problems.append("\(text)") }

    private mutating func check() {
        let granted = Set(grants.filter { $0.runs && $0.isOfSubscription }.map(\.customer))
        if granted.count > 1 { problem("granted to two: \(granted.sorted())") }
        if !granted.isEmpty, dueAt == nil { problem("nobody will look again at what \(granted.sorted()) has") }
        // No statement lasts longer, and an outage of an hour is over by then.
        let slack = Self.leeway + Self.hour
        for grant in grants where grant.runs && grant.isOfSubscription {
            let isOpenEnded = ownEntitlements[grant.customer]?.contains(grant.offer) == true
            let isTrue =
                isEntitled(grant.customer, grant.offer).0
                || running.map { offer(of: $0.productID) == grant.offer } == true
            if !isTrue, !isOpenEnded, let saidUntil, now > saidUntil + slack, !hasEverBeenOpenEnded(grant) {
                problem("\(grant.customer) has \(grant.offer) past what anybody said")
            }
        }
    }

    private func hasEverBeenOpenEnded(_ grant: Grant) -> Bool {
        namesEnds
            && ledger.cleeng[grant.offer].map {
                !$0.isOver && $0.until == nil && ownEntitlements.keys.contains(grant.customer)
            } ?? false
    }

    /// Checks that no grant ends while Cleeng entitles and the store's subscription runs.
    private mutating func checkEnd(of grant: Grant) {
        guard isEntitled(grant.customer, grant.offer).0, let running, offer(of: running.productID) == grant.offer else {
            return
        }
        // The store's statement that it renews after all was lost.
        if ledger.renewal?.willRenew == false, ledger.periods[running.id] == nil { return }
        // A new purchase after a refund is unknown until a statement arrives, while the refund ends access at once.
        let isUntold = ledger.periods[running.id] == nil && ledger.periods.values.contains { $0.revocation != nil }
        guard !isUntold else { return }
        problem("\(grant.customer) loses \(grant.offer), which runs")
    }
}

extension Duration {
    fileprivate static func hours(_ range: ClosedRange<Int>, _ generator: inout SeededGenerator) -> Duration {
        .seconds(Int.random(in: range.lowerBound * 3_600...range.upperBound * 3_600, using: &generator))
    }

    fileprivate static func days(_ range: ClosedRange<Int>, _ generator: inout SeededGenerator) -> Duration {
        .seconds(Int.random(in: range.lowerBound * 86_400...range.upperBound * 86_400, using: &generator))
    }
}
