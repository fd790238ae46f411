import NIOConcurrencyHelpers
import Postgres
import RelayCore
import Testing

@testable import Relay

/// Accepts purchases while it has capacity.
private final class Claimer: PurchaseClaimer {
    struct State {
        var places: Int
        var begun: [ClaimedPursuit] = []
    }

    let own: [PublisherID]
    let lease = Duration.seconds(30)
    let state: NIOLockedValueBox<State>

    init(places: Int = 1, own: [PublisherID] = []) {
        state = NIOLockedValueBox(State(places: places))
        self.own = own
    }

    func reserve(_ acceptance: Acceptance) -> Bool {
        state.withLockedValue { state in
            guard state.places > 0 else { return false }
            state.places -= 1
            return true
        }
    }

    func release(_ acceptance: Acceptance) { state.withLockedValue { $0.places += 1 } }

    func begin(_ claimed: ClaimedPursuit, since claimedAt: ContinuousClock.Instant) {
        state.withLockedValue { $0.begun.append(claimed) }
    }

    var places: Int { state.withLockedValue(\.places) }
    var begun: [ClaimedPursuit] { state.withLockedValue(\.begun) }
}

@Suite("A purchase that the accepting process claims at once")
struct TakenAtOnceTests {
    private func intake(
        _ store: RelayStore, _ claimer: Claimer, onAccepted: @escaping @Sendable () -> Void = {}
    ) -> Intake {
        Intake(store: store, validationTimeout: RelayStore.timeout, claimer: claimer, onAccepted: onAccepted)
    }

    @Test("is claimed on acceptance, and its claim writes like any other")
    func claimed() async throws {
        try await withStore { database, store in
            _ = try await store.publishers.add("main")
            let (claimer, sample) = (Claimer(), try Acceptance.sample())
            let rung = NIOLockedValueBox(0)
            let outcome = try await intake(store, claimer) { rung.withLockedValue { $0 += 1 } }.accept(sample)
            guard case .created(let acceptedAt, let deadline) = outcome else {
                throw RelayStore.NotNew(outcome: outcome)
            }
            let claimed = try #require(claimer.begun.first)
            #expect(claimed.id == sample.id && claimed.fence == 1 && claimed.isSending && !claimed.overtakes)
            #expect(claimed.pursuit.acceptedAt == acceptedAt && claimed.pursuit.deadline == deadline)
            #expect(claimer.places == 0 && rung.withLockedValue { $0 } == 0)
            #expect(try await store.purchases.claimDue().isEmpty)
            #expect(try await store.purchases.renew([(claimed.id, 1)], lease: .seconds(30)).renewed == [claimed.id])
            try await store.write(claimed.granted())
            #expect(try await store.status(of: sample.id) == .granted)
            #expect(try await database.count("pursuits") == 0)
        }
    }

    @Test("equals a later claim of its row", arguments: PurchaseDriver.allCases)
    func sameAsClaimed(driver: PurchaseDriver) async throws {
        try await withStore { database, store in
            _ = try await store.publishers.add("main")
            let claimer = Claimer()
            var sample = try Acceptance.sample(
                receipt: .init(isText: true, bytes: Private(Array(Self.proof(of: driver).utf8))))
            sample.driver = driver
            sample.cleengCustomer = 123_456
            sample.verification = .notGenuine(code: "wrong_app", detail: "it is of another app")
            _ = try await intake(store, claimer).accept(sample)
            let born = try #require(claimer.begun.first)
            try await database.makeDue(born.id)
            let claimed = try await store.claimOne()
            #expect(claimed.fence == 2 && claimed.strikes == 1 && claimed.pursuit.forwards == 1)
            var pursuit = claimed.pursuit
            pursuit.forwards = 0
            #expect(born.pursuit == pursuit)
            #expect(born.email == claimed.email && born.offerID == claimed.offerID && born.customer == claimed.customer)
            #expect(born.environment == claimed.environment && born.subscriptionKey == claimed.subscriptionKey)
            #expect(born.publisher == claimed.publisher && born.trace == claimed.trace)
            for asked in [PurchaseDriver.receipt, .storekit2] + (driver == .googleV2 ? [.googleV2] : []) {
                let kept = try await store.purchases.purchase(of: born, by: asked)
                let read = try await store.purchases.purchase(of: claimed, by: asked)
                #expect(claimed.accepted == nil && "\(kept)" == "\(read)")
                #expect(Self.bytes(kept.proof) == Self.bytes(read.proof))
            }
        }
    }

    private static func proof(of driver: PurchaseDriver) -> String {
        switch driver {
        case .google, .googleV2: #"{"productId":"month","purchaseToken":"t","packageName":"tv.app","orderId":"GPA.1"}"#
        case .amazon: #"{"receiptId":"r","userId":"u"}"#
        case .roku:
            #"{"purchaseId":"p","code":"month","amount":{"number":"9.90"},"total":{"text":"$9.90"}}"#
        case .receipt, .storekit2: "a receipt"
        }
    }

    private static func bytes(_ proof: StoredPurchase.Proof) -> [UInt8]? {
        switch proof {
        case .receipt(let receipt): receipt.bytes.value
        case .store(let receipt): receipt.json
        case .google, .transaction: nil
        }
    }

    /// Ana posts again after a refusal, and her statement waits for a lock. Meanwhile Ben posts the same subscription, and
    /// Cleeng grants it to him.
    @Test("is not claimed if it waited: a newer request may have been sent meanwhile")
    func waited() async throws {
        try await withStores(2) { database, stores in
            let (store, other) = (stores[0], stores[1])
            _ = try await store.publishers.add("main")
            try await store.write(try await store.takeAndClaim(.sample(customer: "ana@example.test")).rejected())
            let (claimer, again) = (Claimer(), try Acceptance.sample(customer: "ana@example.test"))
            let intake = intake(store, claimer)
            let accepting = try await database.hand.withTransaction { transaction in
                _ = try await transaction.query("SELECT FROM purchases FOR UPDATE")
                let accepting = Task { try await intake.accept(again) }
                try await database.waitUntilBlocked()
                try await other.takeAndGrant(.sample(customer: "ben@example.test"))
                return accepting
            }
            #expect(try await accepting.value.isNew)
            #expect(claimer.begun.isEmpty && claimer.places == 1)
            let claimed = try await store.claimOne()
            #expect(claimed.id == again.id && claimed.isOvertaken)
        }
    }

    @Test("is not claimed if its subscription has a pursuit, without a free place, or for a repeat")
    func left() async throws {
        try await withStore { database, store in
            _ = try await store.publishers.add("main")
            let claimer = Claimer(places: 1)
            let intake = intake(store, claimer)
            try await store.take(.sample(customer: "ana@example.test"))
            _ = try await intake.accept(.sample(customer: "ben@example.test"))
            #expect(claimer.begun.isEmpty && claimer.places == 1)
            let other = try Acceptance.sample(subscription: "2")
            _ = try await intake.accept(other)
            #expect(claimer.begun.map(\.id) == [other.id] && claimer.places == 0)
            _ = try await intake.accept(.sample(subscription: "3"))
            claimer.release(other)
            #expect(try await intake.accept(.sample(subscription: "2")) == .existing(other.id))
            #expect(claimer.begun.count == 1 && claimer.places == 1)
            // Purchases that were not taken at once are claimed, one per subscription at a time.
            #expect(try await store.purchases.claimDue().count == 2)
        }
    }

    @Test("is not claimed if a later purchase owns its subscription")
    func owned() async throws {
        try await withStore { database, store in
            try await store.takeAndGrant(.sample())
            try await database.run("UPDATE subscriptions SET accepted_at = now() + interval '1 hour'")
            let claimer = Claimer()
            _ = try await intake(store, claimer).accept(.sample(customer: "ben@example.test"))
            #expect(claimer.begun.isEmpty && claimer.places == 1)
            #expect(try await store.claimOne().isOvertaken)
        }
    }

    @Test("is not claimed if copy and database disagree about the publisher's account")
    func accounts() async throws {
        try await withStore { database, store in
            for publisher in ["main", "nordic"] as [PublisherID] { _ = try await store.publishers.add(publisher) }
            _ = try await store.publishers.adoptAccounts(of: ["nordic"])
            let (common, mistaken, right) = (Claimer(), Claimer(own: ["main"]), Claimer(own: ["nordic"]))
            _ = try await intake(store, common).accept(.sample(publisher: "nordic"))
            _ = try await intake(store, mistaken).accept(.sample())
            #expect(common.begun.isEmpty && mistaken.begun.isEmpty)
            _ = try await intake(store, right).accept(.sample(subscription: "2", publisher: "nordic"))
            #expect(right.begun.count == 1)
        }
    }

    @Test("is claimed once per subscription, also with concurrent acceptances")
    func races() async throws {
        try await withStores(4) { database, stores in
            _ = try await stores[0].publishers.add("main")
            let claimers = stores.map { _ in Claimer(places: 1_000) }
            for round in 0..<20 {
                try await withThrowingTaskGroup { group in
                    for (number, (store, claimer)) in zip(stores, claimers).enumerated() {
                        let sample = try Acceptance.sample(
                            customer: "c\(number)@example.test", subscription: "\(round)")
                        group.addTask { _ = try await intake(store, claimer).accept(sample) }
                    }
                    try await group.waitForAll()
                }
            }
            let begun = claimers.flatMap(\.begun)
            #expect(Set(begun.map(\.subscriptionKey)).count == begun.count && !begun.isEmpty)
            #expect(claimers.reduce(0) { $0 + $1.places } == 4_000 - begun.count)
            #expect(try await database.count("pursuits", where: "sending") == begun.count)
            #expect(try await database.count("pursuits") == 80)
        }
    }

    @Test("is read from the database if its receipt is large")
    func large() async throws {
        try await withStore { database, store in
            _ = try await store.publishers.add("main")
            let claimer = Claimer()
            let receipt = Acceptance.Receipt(isText: true, bytes: Private([UInt8](repeating: 65, count: 65_537)))
            _ = try await intake(store, claimer).accept(.sample(receipt: receipt))
            let claimed = try #require(claimer.begun.first)
            #expect(claimed.accepted == nil)
            #expect(try await store.purchases.purchase(of: claimed, by: .receipt).receipt?.bytes == receipt.bytes)
        }
    }
}
