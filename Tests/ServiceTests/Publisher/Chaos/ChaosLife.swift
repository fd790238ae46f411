import AppStoreSimulation
import Foundation
import TestSupport

/// The life of one subscription, step by step. Each step is accepted before the next begins, even while copies die. So
/// the states that its customers see have a known order.
struct ChaosLife: Sendable {
    /// The compared part of a customer's purchases. Every state of a life is different.
    struct State: Sendable, Hashable {
        /// `nil` without a purchase.
        var transaction: String?
        var intentChangedAt: String?
        var isExpired = false

        static let nothing = State()
        static let product = "apple:com.example.app.monthly"

        init() {}

        /// - Parameter purchases: the map of purchases in the API and in messages.
        init(_ purchases: JSON) {
            let purchase = purchases[Self.product]
            transaction = purchase["transactionId"].string
            intentChangedAt = purchase["renewalIntentChangeDate"].string
            isExpired = purchase["isExpired"].bool ?? false
        }
    }

    let store: TestAppStore
    let scene: ChaosScene
    /// States that each owner was shown, by username, in order.
    private(set) var states: [String: [State]] = [:]
    private(set) var notifications = 0
    private(set) var moves = 0

    /// Emails between which the subscription moves.
    private let owners: [String]
    private var owner = 0
    private var life: SimulatedSubscription
    private var turnedAt: Date?
    private var isOn = true
    /// Whether renewal was turned on or off since the newest period began. Otherwise a refund would repeat an earlier
    /// state.
    private var isTurned = false
    private var turn: Int
    private var moment = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
    private var generator: SeededGenerator

    init(_ number: Int, _ scene: ChaosScene, _ store: TestAppStore, seed: ChaosSeed) throws {
        self.store = store
        self.scene = scene
        generator = seed.generator(number)
        life = try store.subscription()
        turn = number
        let names = number % 3 == 0 ? ["c\(number)-a", "c\(number)-b"] : ["c\(number)"]
        owners = names.map { $0 + "@example.test" }
    }

    /// - Parameter isOver: checked before each step; true ends the life.
    mutating func live(steps: Int, until isOver: @Sendable () -> Bool) async throws {
        life.bought(at: moment)
        try await buy()
        for _ in 0..<steps {
            try await CopyChaos.pause(100...700, &generator)
            // The last step must be sent by itself, since no later message would replace it.
            guard !isOver() else { return }
            moment = max(moment + 1, Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down)))
            try await step()
        }
    }

    private var isRefunded: Bool { life.transaction.revocationDate != nil }

    private mutating func step() async throws {
        let dice = Int.random(in: 0..<10, using: &generator)
        if isRefunded {
            try await begin("SUBSCRIBED", "RESUBSCRIBE")
        } else if dice < 2, owners.count > 1 {
            owner = 1 - owner
            try await buy()
        } else if dice < 4, isTurned {
            try await tell(life.refunded(at: moment))
        } else if dice < 7 {
            try await begin("DID_RENEW", nil)
        } else {
            isOn.toggle()
            turnedAt = moment
            isTurned = true
            try await tell(life.renewalTurned(isOn ? .on : .off, at: moment))
        }
    }

    /// Begins a period now that ends after the one before. The simulator's renewal would begin in the future.
    private mutating func begin(_ type: String, _ subtype: String?) async throws {
        var told = life.resubscribed(at: moment)
        told.notificationType = type
        told.subtype = subtype
        (isOn, isTurned) = (true, false)
        try await tell(told)
    }

    private var shown: State {
        var state = State()
        let valid = life.transactions.last { $0.revocationDate == nil }
        state.transaction = "apple:" + (valid ?? life.transaction).transactionId
        state.intentChangedAt = turnedAt.map { $0.formatted(.iso8601).replacing("Z", with: ".000Z") }
        state.isExpired = valid == nil
        return state
    }

    // MARK: Sending until a front accepts it

    private mutating func tell(_ notification: SimulatedNotification) async throws {
        states[owners[owner], default: [.nothing]].append(shown)
        let body = try store.transactions.sign(notification)
        notifications += 1
        try await untilTaken("a notification") { front in
            let answer = try await HTTP.post(
                front.url + "/apple/notifications", headers: ["Content-Type": "application/json"], body: body,
                timeout: .seconds(20), client: AppClient.client)
            return answer.status == 200 ? "" : nil
        }
    }

    private mutating func buy() async throws {
        if !states.isEmpty {
            states[owners[1 - owner], default: []].append(.nothing)
            moves += 1
        }
        states[owners[owner], default: [.nothing]].append(shown)
        var purchase = TestPurchase(
            email: owners[owner], original: life.originalTransactionId, transactionID: life.transaction.transactionId)
        purchase.receipt = try store.transactions.sign(json: life.transaction.json(signedDate: moment))
        let id = try await untilTaken("a purchase") { front in
            let posted = await AppClient.post(purchase, to: front)
            return posted.status == 202 || posted.status == 200 ? posted.id : nil
        }
        try await untilTaken("a grant of \(id)") { front in
            try await AppClient.poll(id, of: front, wait: 5).json["status"].string == "granted" ? "" : nil
        }
    }

    /// Calls one front after the other until one accepts, for 25 seconds at most.
    @discardableResult
    private mutating func untilTaken<T: Sendable>(
        _ what: String, _ call: (Relay) async throws -> T?
    ) async throws -> T {
        let end = ContinuousClock.now + .seconds(25)
        while ContinuousClock.now < end {
            turn += 1
            if let front = scene.front(turn), let value = try? await call(front) { return value }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw HarnessError.failed(what, ["nobody took it for 25 seconds"])
    }
}
