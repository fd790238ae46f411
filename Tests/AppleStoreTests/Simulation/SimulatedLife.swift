import AppStoreSimulation
import Foundation
import RelayCore
import Testing

@testable import AppleStore

/// A simulated subscription and the ledger of its notifications. Days count from the purchase.
struct SimulatedLife {
    static let start = Date(timeIntervalSince1970: 1_790_000_000)
    static let form = StoreAuthority.Form(validity: day(-1)...day(400))
    private static let made: Result<StoreAuthority, any Error> = Result {
        try StoreAuthority(.transactions, name: "Life", form: form)
    }
    private static let scope = StoreScope(bundleIds: ["com.example.app"], appId: nil, environments: [.sandbox])

    static func day(_ number: Double) -> Date { start.addingTimeInterval(number * 86_400) }

    static func moment(_ number: Double) -> Timestamp {
        Timestamp(seconds: Int64(day(number).timeIntervalSince1970))
    }

    var subscription = SimulatedSubscription(firstTransactionId: 2_000_000_700_000_001, productId: "month")
    let authority: StoreAuthority
    private let trust: ChainOfTrust
    private(set) var words: [LedgerStatement] = []

    init() throws {
        authority = try Self.made.get()
        trust = ChainOfTrust(try TrustedRoots(adding: [authority.root]))
    }

    /// Signs an event's notification, reads and verifies it like the relay, and applies it to the ledger.
    @discardableResult
    mutating func tell(
        _ event: (inout SimulatedSubscription) -> SimulatedNotification
    ) async throws -> StoreNotification {
        let notification = event(&subscription)
        let told = try await read(notification)
        words.append(try #require(told.statement))
        return told
    }

    func read(_ notification: SimulatedNotification, inner: StoreAuthority? = nil) async throws -> StoreNotification {
        let body = try authority.sign(notification, inner: inner)
        guard case .signed(let signed) = try ServerNotification(body: Array(body)) else {
            throw NotGenuine(.unreadable, "it is no version 2 notification")
        }
        try await signed.verify(trust, Self.scope)
        return try signed.notification()
    }

    /// Why the notification is refused; nil if it is accepted.
    func refusal(of notification: SimulatedNotification, inner: StoreAuthority? = nil) async -> NotGenuine.Code? {
        await flaw {
            _ = try await read(notification, inner: inner)
            return Genuine(isLocal: false)
        }
    }

    /// The present status as a version 1 notification.
    func readUpdate(_ type: String) throws -> StoreNotification {
        let body = try subscription.statusUpdate(type, password: "secret").json()
        guard case .statusUpdate(let update) = try ServerNotification(body: Array(body)) else {
            throw NotGenuine(.unreadable, "it is no version 1 notification")
        }
        try update.verify(secret: "secret", Self.scope)
        return try update.read().notification
    }

    var ledger: SubscriptionLedger {
        var ledger = SubscriptionLedger()
        for word in words { ledger.apply(word) }
        return ledger
    }

    func state(on day: Double) throws -> SubscriptionState { try Self.state(of: ledger, on: day) }
    func status(on day: Double) throws -> SubscriptionState.Status { try state(on: day).status }

    static func state(of ledger: SubscriptionLedger, on day: Double) throws -> SubscriptionState {
        try #require(ledger.state(at: moment(day), leeway: .seconds(3_600)))
    }
}
