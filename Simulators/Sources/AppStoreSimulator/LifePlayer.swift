import AppStoreSimulation
import Foundation
import NIOHTTP1

/// Does what it is told with one subscription, and posts what the App Store would tell of it, once each.
struct LifePlayer {
    private var life: SimulatedSubscription
    private let transactions: StoreAuthority
    private let receipts: StoreAuthority
    private let url: String
    /// Is told of each notification too, where there is one.
    private let api: ToldAPI?
    /// The last notification; true before the first.
    private(set) var wasTaken = true

    init(
        life: SimulatedSubscription, transactions: StoreAuthority, receipts: StoreAuthority, url: String,
        api: ToldAPI? = nil
    ) {
        self.life = life
        self.transactions = transactions
        self.receipts = receipts
        self.url = url
        self.api = api
    }

    /// - Returns: one line, which says what is wrong where it cannot be done.
    mutating func answer(_ line: String) async throws -> String {
        do {
            switch try LifeCommand(line) {
            case .event(let event): return try await tell(event)
            case .lost(let event):
                guard api != nil else { return "error: \(LifeCommand.lostWord) needs --api" }
                return try await tell(event, isLost: true)
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

    private mutating func tell(_ event: LifeEvent, isLost: Bool = false) async throws -> String {
        // Before the wait, which may be long.
        if let objection = life.objection(to: event, at: Date()) { throw objection }
        if let moment = life.earliest(for: event) { try await wait(until: moment) }
        let told = try life.happen(event, at: Date())
        let body = try transactions.sign(told)
        // Whoever hears of it may ask at once.
        var complaint = await complaint { try await $0.put(told) }
        var status: Int?
        if !isLost { status = await HTTPCall.send(.POST, body, to: url) }
        let result = SendAttempt.Result(status: status)
        if complaint == nil { complaint = await self.complaint { try await $0.add(body, result) } }
        wasTaken = (isLost || result == .success) && complaint == nil
        let outcome = isLost ? "lost" : HTTPCall.outcome(status)
        return [told.notificationType, told.subtype, outcome, complaint].compactMap(\.self).joined(separator: " ")
    }

    /// What has happened stays so, also where the API cannot be told.
    private func complaint(_ telling: (ToldAPI) async throws -> Void) async -> String? {
        guard let api else { return nil }
        do {
            try await telling(api)
            return nil
        } catch {
            return "(\(error))"
        }
    }

    /// By the clock that dates what is signed, which may be set meanwhile.
    private func wait(until moment: Date) async throws {
        while case let rest = moment.timeIntervalSinceNow, rest > 0 {
            try await Task.sleep(for: .seconds(min(rest, 1)))
        }
    }
}
