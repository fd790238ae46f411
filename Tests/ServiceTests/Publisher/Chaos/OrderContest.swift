import AppStoreSimulation
import Foundation
import TestSupport

/// Clients that order one subscription and commit at the same moment, in several rounds, at any front that is alive.
struct OrderContest: Sendable {
    /// The answer to a commit.
    struct Answer: Sendable {
        var order: String
        var status: Int
        var contract: String?
    }

    let scene: ChaosScene
    let store: TestAppStore
    let token: String
    private(set) var subscription = ""
    private(set) var orders: [String] = []
    private(set) var answers: [Answer] = []
    private var turn: Int

    private static let clients = 4
    private static let rounds = 5

    init(_ scene: ChaosScene, _ store: TestAppStore, token: String, turn: Int) {
        self.scene = scene
        self.store = store
        self.token = token
        self.turn = turn
    }

    mutating func play() async throws {
        var life = try store.subscription()
        life.bought(at: Date())
        let receipt = Data(try store.receipts.sign(life.receipt(at: Date()))).base64EncodedString()
        subscription =
            try await untilAnswered(
                "/ExternalSubscriptions/check", #"{"Type":"AppleIap","AppleIapReceipt":"\#(receipt)"}"#, 200
            )["Subscriptions"][0]["Id"].string ?? ""
        for _ in 0..<2 {
            let order = try await untilAnswered(
                "/Orders", #"{"ExternalSubscriptionId":"\#(subscription)","Customer":{"FirstName":"Ana"}}"#, 201)
            orders.append(order["Id"].string ?? "")
        }
        for _ in 0..<Self.rounds { await commitAll() }
    }

    /// Commits each order until it is answered. ``violations`` lists those without an answer.
    mutating func end(by end: ContinuousClock.Instant) async throws {
        for order in orders {
            var isAnswered = false
            while !isAnswered, ContinuousClock.now < end {
                turn += 1
                guard let answer = await commit(order, turn) else { continue }
                answers.append(answer)
                isAnswered = answer.status < 500
                if !isAnswered { try await Task.sleep(for: .milliseconds(100)) }
            }
        }
    }

    private mutating func commitAll() async {
        turn += 1
        let contest = self
        answers += await withTaskGroup(of: Answer?.self) { group in
            for client in 0..<Self.clients {
                let order = contest.orders[client / 2 % contest.orders.count]
                group.addTask { await contest.commit(order, contest.turn + client) }
            }
            return await group.reduce(into: []) { answers, answer in answer.map { answers.append($0) } }
        }
    }

    private func commit(_ order: String, _ turn: Int) async -> Answer? {
        guard let answer = await post("/Orders/\(order)/commit", nil, turn) else {
            try? await Task.sleep(for: .milliseconds(50))
            return nil
        }
        return Answer(order: order, status: answer.status, contract: answer.json["Id"].string)
    }

    private func post(_ path: String, _ body: String?, _ turn: Int) async -> HTTP.Answer? {
        guard let front = scene.front(turn) else { return nil }
        return try? await HTTP.post(
            front.url + "/api/v1" + path,
            headers: ["Authorization": "Bearer \(token)", "Content-Type": "application/json"],
            body: Data((body ?? "").utf8), timeout: .seconds(20), client: AppClient.client)
    }

    private mutating func untilAnswered(_ path: String, _ body: String, _ status: Int) async throws -> JSON {
        let end = ContinuousClock.now + .seconds(25)
        var last = "nothing"
        while ContinuousClock.now < end {
            turn += 1
            let answer = await post(path, body, turn)
            if let answer, answer.status == status { return answer.json }
            last = answer.map { "\($0.status) \($0.text)" } ?? last
            try await Task.sleep(for: .milliseconds(100))
        }
        throw HarnessError.failed(path, [last])
    }

    // MARK: Checks of the answers

    /// The contract of the first successful commit.
    var contract: String? { answers.first { $0.status == 200 }?.contract }

    var violations: [String] {
        let good = answers.filter { $0.status == 200 }
        var violations: [String] = []
        if Set(good.map(\.contract)).count != 1 { violations.append("its contracts: \(Set(good.map(\.contract)))") }
        if Set(good.map(\.order)).count != 1 { violations.append("its orders that won: \(Set(good.map(\.order)))") }
        for order in orders {
            let mine = answers.filter { $0.order == order }
            let statuses = Set(mine.map(\.status))
            if mine.last.map({ $0.status >= 500 }) ?? true { violations.append("\(order) had no answer in the end") }
            if statuses.isSuperset(of: [200, 409]) { violations.append("\(order) both won and lost") }
            if !statuses.isSubset(of: [200, 409, 503]) { violations.append("\(order) was answered \(statuses)") }
        }
        return violations.map { "\(subscription): \($0)" }
    }
}
