import Foundation
import Postgres
import RelayCore

extension Model {
    /// State of the database and of the simulator after the last step.
    struct EndState: Sendable {
        let world: World
        let pool: PostgresPool
        private var journal: Journal { world.journal }

        init(world: World, pool: PostgresPool) {
            self.world = world
            self.pool = pool
        }

        private static let workSQL = """
            SELECT p.phase, v.customer, p.subscription_key
            FROM pursuits p
            JOIN validations v ON v.bucket = p.bucket AND v.accepted_on = p.accepted_on AND v.id = p.id
            """

        private static let pendingSQL = "SELECT count(*) FROM validations WHERE status = 0"

        /// Waits until no purchase is unsent, Cleeng has no pending grants, and the relay knows every grant. The judge
        /// reports what takes longer than the limit.
        func awaitCalm(within limit: Duration = .seconds(25)) async throws {
            let end = ContinuousClock.now + limit
            while ContinuousClock.now < end {
                if try await isCalm() { return }
                try await Task.sleep(for: .milliseconds(100))
            }
        }

        private func isCalm() async throws -> Bool {
            guard try await world.control.stats()["pendingGrants"].int == 0 else { return false }
            let pending = try await pool.query(SQL(Self.pendingSQL)).first?.get(0, as: Int64.self)
            guard pending == 0 else { return false }
            var owners: [String: String] = [:]
            for row in try await pool.query(SQL(Self.workSQL)) {
                let original = try row.get(2, as: String.self)
                if owners[original] == nil {
                    owners[original] = try await world.control.subscription(original)["customerEmail"].string ?? ""
                }
                switch try row.get(0, as: Int16.self) {
                case Pursuit.Phase.forwarding.rawValue: return false
                case Pursuit.Phase.watching.rawValue:
                    if try owners[original] == row.get(1, as: String.self) { return false }
                default: break
                }
            }
            return true
        }

        /// The journal's history, completed with the end state.
        func history() async throws -> History {
            let rows = try await rows()
            let events = try await events()
            let owners = try await owners()
            let transfers = try await transfers()
            let payments = try await world.simulator.requests(path: "/apple/payment").map(forward)
            let reads = try await world.simulator.requests(path: "/3.1/entitlements").map(read)
            let grants = try await grants(of: Set(rows.map(\.purchase.original)))
            journal.note { history in
                history.rows = rows
                history.events = events
                history.owners = owners
                history.transfers = transfers
                history.forwards = payments
                history.reads = reads
                history.grants = grants
            }
            return journal.history
        }
    }
}

// MARK: The simulator

extension Model.EndState {
    private func forward(_ json: JSON) throws -> Model.Forward {
        let sent = try SentRequest(json)
        let body = json["body"]
        guard let customer = sent.email.flatMap({ Model.Purchase.customer($0) }),
            let coupon = body["couponCode"].string,
            let original = body["receipt"]["receiptData"]["originalTransactionId"].string,
            let subscription = Model.Purchase.subscription(original)
        else { throw HarnessError.failed("a forward is nobody's", [json.description]) }
        return Model.Forward(
            coupon: coupon, customer: customer, subscription: subscription,
            startedAt: journal.seconds(sent.startedAt), endedAt: sent.endedAt.map(journal.seconds),
            status: sent.status, outcome: sent.outcome ?? "",
            overlapped: json["overlappedWithSamePurchase"].bool ?? false)
    }

    private func read(_ json: JSON) throws -> Model.Read {
        let sent = try SentRequest(json)
        guard let customer = sent.email.flatMap({ Model.Purchase.customer($0) }) else {
            throw HarnessError.failed("a read is nobody's", [json.description])
        }
        return Model.Read(
            customer: customer, startedAt: journal.seconds(sent.startedAt),
            endedAt: sent.endedAt.map(journal.seconds))
    }

    private func grants(of originals: Set<String>) async throws -> [Model.Grant] {
        var grants: [Model.Grant] = []
        for original in originals.sorted() {
            for event in try await world.control.subscription(original)["history"].array ?? [] {
                guard let at = event["at"].string.flatMap({ Date(milliseconds: $0) }),
                    let customer = event["to"].string.flatMap({ Model.Purchase.customer($0) }),
                    let subscription = Model.Purchase.subscription(original)
                else { throw HarnessError.failed("a grant is nobody's", [event.description]) }
                grants.append(
                    Model.Grant(at: journal.seconds(at), subscription: subscription, customer: customer))
            }
        }
        return grants
    }
}
