import NIOConcurrencyHelpers
import NIOCore

/// Apps that buy at a steady pace during faults. An app without a 202 tries again until it has one, or its patience
/// ends.
///
/// - Most purchases have their own subscription. Some are posted twice at once, to two copies, and some again after
///   they were accepted.
/// - In contests, several customers send the receipt of one subscription, mostly one after the other. Some customers
///   repeat their request later.
final class ChaosLoad: Sendable {
    struct Bought: Sendable {
        var purchase: TestPurchase
        /// Ids that the app polls. One, unless the app posted again after a validation was over.
        var ids: Set<String> = []
        var posts = 0
    }

    private struct State {
        var bought: [String: Bought] = [:]
        var sequences: [[String]] = []
        var posts = 0
        var oddAnswers: [String] = []
        var tag: String
        var isContestOver = false
        var isStopped = false
    }

    private static let buyers = 4
    private static let contests = 3
    private let scene: ChaosScene
    /// How long an app keeps trying.
    private let patience: Duration
    private let state: NIOLockedValueBox<State>

    private init(_ scene: ChaosScene, tag: String, patience: Duration) {
        self.scene = scene
        state = .init(State(tag: tag))
        self.patience = patience
    }

    /// Runs for as long as `body` does.
    ///
    /// - Parameter tag: part of every second buyer's email, until ``endTag()``.
    static func during<T: Sendable>(
        _ scene: ChaosScene, tag: String, patience: Duration, _ body: (ChaosLoad) async throws -> T
    ) async throws -> (T, ChaosLoad) {
        let load = ChaosLoad(scene, tag: tag, patience: patience)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for app in 0..<buyers { group.addTask { await load.buyOnAndOn(app) } }
            for app in 0..<contests { group.addTask { await load.contestOnAndOn(app) } }
            defer { load.stop() }
            let value = try await body(load)
            load.stop()
            try await group.waitForAll()
            return (value, load)
        }
    }

    var tag: String { state.withLockedValue { $0.tag } }
    var isContestOver: Bool { state.withLockedValue { $0.isContestOver } }
    var isStopped: Bool { state.withLockedValue { $0.isStopped } }

    func endTag() { state.withLockedValue { $0.tag = "" } }

    /// Ends the contests: no new one begins, and running ones get no further request. Their losers get their answer
    /// only at the deadline.
    func endContests() { state.withLockedValue { $0.isContestOver = true } }

    private func stop() {
        state.withLockedValue { state in
            state.isContestOver = true
            state.isStopped = true
        }
    }

    func note(_ sequence: [String]) { state.withLockedValue { $0.sequences.append(sequence) } }

    /// Purchases by transaction id.
    var bought: [String: Bought] { state.withLockedValue { $0.bought } }
    /// Answers that are neither an acceptance nor 503.
    var oddAnswers: [String] { state.withLockedValue { $0.oddAnswers } }
    /// Ids of validations for one subscription each. Each was posted after the one before was accepted.
    var sequences: [[String]] { state.withLockedValue { $0.sequences } }

    /// Returns once that many purchases are accepted.
    func accepted(_ count: Int) async throws {
        try await Awaiting.fact("\(count) are accepted", within: .seconds(30)) {
            self.state.withLockedValue { $0.bought.values.count { !$0.ids.isEmpty } }
        } holds: {
            $0 >= count
        }
    }

    // MARK: One purchase

    /// - Returns: the validation's id; `nil` if the purchase was not accepted in time.
    @discardableResult
    func buy(_ purchase: TestPurchase, turn: Int) async -> String? {
        let end = ContinuousClock.now + patience
        var (turn, purchase) = (turn, purchase)
        while ContinuousClock.now < end {
            if let front = scene.front(turn) {
                // Names this post, here and at the upstream. The purchase stays the same.
                purchase.extra["couponCode"] = "post-\(newPost())"
                let posted = await AppClient.post(purchase, to: front, patience: .seconds(5))
                let id = posted.status == 202 || posted.status == 200 ? posted.id : nil
                note(purchase, id)
                if let id { return id }
                if let status = posted.status, status != 503 {
                    state.withLockedValue { $0.oddAnswers.append("\(purchase.transactionID) was answered \(status)") }
                    return nil
                }
            }
            turn += 1
            try? await Task.sleep(for: .milliseconds(200))
        }
        return nil
    }

    private func newPost() -> Int {
        state.withLockedValue { state in
            state.posts += 1
            return state.posts
        }
    }

    private func note(_ purchase: TestPurchase, _ id: String?) {
        state.withLockedValue { state in
            var bought = state.bought[purchase.transactionID] ?? Bought(purchase: purchase)
            bought.posts += 1
            if let id { bought.ids.insert(id) }
            state.bought[purchase.transactionID] = bought
        }
    }
}
