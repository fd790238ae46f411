import AppStoreSimulation
import Foundation
import RelayCore
import Testing

@testable import AppleStore

@Suite("Unknown parts of a genuine notification")
struct UnknownPartTests {
    private let authority: StoreAuthority
    private let policy: NotificationPolicy

    init() throws {
        authority = try TrustFixture.transactions.get()
        policy = NotificationPolicy(
            trust: try TrustFixture.trust(authority), scope: FutureNotification.scope, sharedSecret: nil)
    }

    private func read(_ notification: FutureNotification, by signer: StoreAuthority? = nil) async throws
        -> StoreNotification
    {
        let signer = signer ?? authority
        let text = try notification.text { try signer.sign(json: $0) }
        return try await policy.judge(try ServerNotification(body: Array(#"{"signedPayload":"\#(text)"}"#.utf8)))
    }

    private func refusal(of notification: FutureNotification, by signer: StoreAuthority? = nil) async
        -> NotGenuine.Code?
    {
        await flaw {
            _ = try await read(notification, by: signer)
            return Genuine(isLocal: false)
        }
    }

    /// - Returns: the notification with one changed field in one part.
    private func renewed(_ part: String, _ key: String, _ value: AppleField?) -> FutureNotification {
        var notification = FutureNotification.purchase("DID_RENEW")
        switch part {
        case "transaction": notification.transaction[key] = value
        case "renewal": notification.renewal[key] = value
        case "data": notification.object[key] = value
        default: notification.payload[key] = value
        }
        return notification
    }

    @Test("an object is stored under its name for every app, and changes nothing")
    func unknownObject() async throws {
        for app in ["com.example.app", "com.example.other"] {
            var notification = FutureNotification.purchase("UNCLAIMED")
            notification.name = "unclaimInfo"
            notification.object["bundleId"] = .text(app)
            let said = try await read(notification)
            #expect(said.environment == .unknown && said.bundleID == nil && said.originalTransactionID == nil)
            #expect(said.statement == nil && said.notice == nil && said.consumption == nil)
            #expect(said.type == "UNCLAIMED" && said.uuid == "002e14d5-51f5-4503-b5a8-c3a1af68eb20")
            #expect(said.saidAt == Timestamp(microseconds: FutureNotification.now * 1_000))
        }
    }

    @Test("an object beside a known one does not change the known one's effect")
    func besides() async throws {
        let expected = try await read(FutureNotification.purchase("DID_RENEW"))
        #expect(try await read(renewed("payload", "unclaimInfo", .object(["a": 1]))).statement == expected.statement)
    }

    @Test(
        "no object, or none that is one",
        arguments: [nil, "text", 7, true, .list([])] as [AppleField?])
    func noObject(value: AppleField?) async throws {
        var notification = FutureNotification("DID_RENEW")
        if value == nil { notification.name = "other" }
        notification.replacement = value ?? 1
        let said = try await read(notification)
        #expect(said.environment == .unknown && said.statement == nil)
    }

    @Test("with an unknown type, transaction and renewal information still count")
    func unknownType() async throws {
        for (known, subtype) in [("DID_RENEW", nil), ("SUBSCRIBED", "RESUBSCRIBE")] as [(String, String?)] {
            let expected = try await read(FutureNotification.purchase(known, subtype))
            let said = try await read(FutureNotification.purchase("OF_NEXT_YEAR", "AND_ITS_KIND"))
            #expect(said.statement == expected.statement && said.statement != nil)
            #expect(said.type == "OF_NEXT_YEAR" && said.subtype == "AND_ITS_KIND" && said.environment == .production)
        }
    }

    @Test("with an unknown subtype, the type counts, and no access ends")
    func unknownSubtype() async throws {
        let now = Timestamp(microseconds: FutureNotification.now * 1_000)
        for (type, status, expected) in [
            ("DID_RENEW", 1, SubscriptionState.Status.active), ("DID_CHANGE_RENEWAL_PREF", 1, .active),
            ("EXPIRED", 2, .expired),
        ] as [(String, Int64, SubscriptionState.Status)] {
            let said = try await read(FutureNotification.purchase(type, "OF_NEXT_YEAR", status: status))
            let word = try #require(said.statement)
            #expect(!word.periods.contains { $0.replacesEarlier })
            var ledger = SubscriptionLedger()
            ledger.apply(word)
            #expect(ledger.state(at: now, leeway: .seconds(3_600))?.status == expected, "\(type)")
        }
    }

    @Test(
        "a field of another type with the same meaning, or without effect",
        arguments: [
            ("payload", "signedDate", .text("\(FutureNotification.now)")), ("payload", "subtype", 7),
            ("data", "appAppleId", "42"), ("data", "status", "1"), ("data", "bundleVersion", 1),
            ("transaction", "transactionId", 2_000_000_700_000_002), ("transaction", "isUpgraded", "false"),
            ("transaction", "isUpgraded", 0), ("transaction", "signedDate", .text("\(FutureNotification.now)")),
            ("transaction", "offerType", "1"), ("transaction", "quantity", .list([])),
            ("transaction", "previousOriginalTransactionId", ""), ("transaction", "appAccountToken", 7),
            ("renewal", "autoRenewStatus", "1"), ("renewal", "isInBillingRetryPeriod", "false"),
            ("renewal", "gracePeriodExpiresDate", 0), ("renewal", "renewalDate", .object([:])),
        ] as [(String, String, AppleField)])
    func lenient(part: String, key: String, value: AppleField) async throws {
        let expected = try await read(FutureNotification.purchase("DID_RENEW"))
        let said = try await read(renewed(part, key, value))
        #expect(said.statement == expected.statement && said.environment == .production)
    }

    @Test(
        "a field with effect on access in an unknown type makes the whole unknown",
        arguments: [
            ("data", "bundleId", 7), ("data", "environment", .list([])), ("data", "appAppleId", true),
            ("data", "signedTransactionInfo", .object([:])), ("data", "signedRenewalInfo", 7),
            ("transaction", "signedDate", true), ("transaction", "bundleId", .object([:])),
            ("transaction", "environment", 7), ("transaction", "transactionId", .list([])),
            ("transaction", "originalTransactionId", .object([:])), ("transaction", "webOrderLineItemId", true),
            ("transaction", "previousOriginalTransactionId", .list([])), ("transaction", "productId", 7),
            ("transaction", "purchaseDate", "soon"), ("transaction", "expiresDate", "soon"),
            ("transaction", "expiresDate", .object([:])), ("transaction", "type", 1),
            ("transaction", "isUpgraded", "soon"), ("renewal", "signedDate", "soon"), ("renewal", "environment", true),
            ("renewal", "originalTransactionId", .list([])), ("renewal", "autoRenewStatus", .object([:])),
            ("renewal", "isInBillingRetryPeriod", .list([])), ("renewal", "gracePeriodExpiresDate", "soon"),
        ] as [(String, String, AppleField)])
    func unreadable(part: String, key: String, value: AppleField) async throws {
        let said = try await read(renewed(part, key, value))
        #expect(said.environment == .unknown && said.statement == nil)
        #expect(said.type == "DID_RENEW")
    }

    @Test("an unreadable revocation date is still a revocation")
    func revocation() async throws {
        var refund = FutureNotification.refund
        refund.transaction["revocationDate"] = "soon"
        #expect(try await read(refund).statement?.periods.first?.revocation?.kind == .refunded)
    }

    @Test("forged and foreign ones are refused")
    func refused() async throws {
        var unknown = FutureNotification("UNCLAIMED")
        unknown.name = "unclaimInfo"
        let stranger = try TrustFixture.make(.transactions).get()
        #expect(await refusal(of: unknown, by: stranger) == .untrustedRoot)
        unknown.payload["signedDate"] = nil
        #expect(await refusal(of: unknown) == .noDate)
        for (key, value, code) in [
            ("bundleId", "com.example.other", NotGenuine.Code.bundle), ("appAppleId", 43, .appId),
            ("environment", "Moon", .environment), ("bundleId", nil, .bundle),
        ] as [(String, AppleField?, NotGenuine.Code)] {
            var notification = renewed("data", key, value)
            #expect(await refusal(of: notification) == code, "\(key)")
            // The app is checked before the other parts: an unreadable part must not let another app's notification in.
            notification.transaction["expiresDate"] = "soon"
            #expect(await refusal(of: notification) == code, "\(key)")
        }
        #expect(await refusal(of: renewed("transaction", "bundleId", "com.example.other")) == .bundle)
        #expect(await refusal(of: renewed("renewal", "originalTransactionId", "1")) == .mismatch)
    }

    @Test("a transaction that Apple signed for a customer is no notification")
    func transaction() async throws {
        let text = try authority.sign(json: TrustFixture.transaction())
        let code = await flaw {
            _ = try await policy.judge(.signed(try SignedNotification(text)))
            return Genuine(isLocal: false)
        }
        #expect(code == .unreadable)
    }
}
