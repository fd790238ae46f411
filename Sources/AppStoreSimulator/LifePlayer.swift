import AppStoreSimulation
import Foundation

/// Does what it is told with one subscription, and posts what the App Store would tell of it, once each.
struct LifePlayer {
    private var life: SimulatedSubscription
    private let transactions: StoreAuthority
    private let receipts: StoreAuthority
    private let url: String
    /// The last notification; true before the first.
    private(set) var wasTaken = true

    init(life: SimulatedSubscription, transactions: StoreAuthority, receipts: StoreAuthority, url: String) {
        self.life = life
        self.transactions = transactions
        self.receipts = receipts
        self.url = url
    }

    /// - Returns: one line, which says what is wrong where it cannot be done.
    mutating func answer(_ line: String) async throws -> String {
        do {
            switch try LifeCommand(line) {
            case .event(let event): return try await tell(event)
            case .transaction:
                let newest = try life.newest
                return try transactions.sign(json: newest.json(signedDate: Date()))
            case .receipt:
                _ = try life.newest
                return Data(try receipts.sign(life.receipt(at: Date()))).base64EncodedString()
            case .help: return LifeCommand.forms.joined(separator: ", ")
            }
        } catch let error as LifeError {
            return "error: \(error)"
        }
    }

    private mutating func tell(_ event: LifeEvent) async throws -> String {
        // Before the wait, which may be long.
        if let objection = life.objection(to: event, at: Date()) { throw objection }
        if let moment = life.earliest(for: event) { try await wait(until: moment) }
        let told = try life.happen(event, at: Date())
        let status = await Delivery.post(try transactions.sign(told), to: url)
        wasTaken = status.map { DeliverySchedule.isSuccess($0) } ?? false
        let words = [told.notificationType, told.subtype, status.map { "HTTP \($0)" } ?? "no answer"]
        return words.compactMap(\.self).joined(separator: " ")
    }

    /// By the clock that dates what is signed, which may be set meanwhile.
    private func wait(until moment: Date) async throws {
        while case let rest = moment.timeIntervalSinceNow, rest > 0 {
            try await Task.sleep(for: .seconds(min(rest, 1)))
        }
    }
}
