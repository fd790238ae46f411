import AppStoreSimulation
import Foundation
import RelayCore
import Testing

@testable import AppleStore

@Suite("Whether a notification is genuine, and its parts belong together")
struct GenuineNotificationTests {
    private let authority: StoreAuthority
    private let trust: ChainOfTrust
    private let scope = StoreScope(
        bundleIds: ["com.example.app"], appId: 42, environments: [.production, .sandbox])

    init() throws {
        authority = try TrustFixture.transactions.get()
        trust = try TrustFixture.trust(authority)
    }

    private var signedDate: String { "\"signedDate\":\(Int(TrustFixture.moment.timeIntervalSince1970 * 1_000))" }

    private func transaction(bundle: String = "com.example.app", environment: String = "Production") throws -> String {
        try authority.sign(
            json: Data(
                #"{"transactionId":"2","originalTransactionId":"1","bundleId":"\#(bundle)","environment":"\#(environment)",\#(signedDate)}"#
                    .utf8))
    }

    private func renewal(of id: String = "1", environment: String = "Production") throws -> String {
        try authority.sign(
            json: Data(
                #"{"originalTransactionId":"\#(id)","autoRenewStatus":1,"environment":"\#(environment)",\#(signedDate)}"#
                    .utf8))
    }

    private func flawOf(_ subject: String, transaction: String? = nil, renewal: String? = nil) async throws
        -> NotGenuine.Code?
    {
        let parts = [
            subject, transaction.map { #""signedTransactionInfo":"\#($0)""# },
            renewal.map { #""signedRenewalInfo":"\#($0)""# },
        ].compactMap { $0 }.joined(separator: ",")
        return try await flawOf(body: #""data":{\#(parts)}"#)
    }

    private func flawOf(body: String) async throws -> NotGenuine.Code? {
        let text = try authority.sign(
            json: Data(
                #"{"notificationType":"DID_RENEW","notificationUUID":"n","version":"2.0",\#(signedDate),\#(body)}"#.utf8
            ))
        return await flaw {
            try await SignedNotification(text).verify(trust, scope)
            return Genuine(isLocal: false)
        }
    }

    private let ours = #""bundleId":"com.example.app","environment":"Production","appAppleId":42"#

    @Test func oneThatIsWhole() async throws {
        #expect(try await flawOf(ours, transaction: transaction(), renewal: renewal()) == nil)
        #expect(try await flawOf(ours, transaction: transaction()) == nil)
        #expect(try await flawOf(ours) == nil, "a TEST has no parts")
    }

    @Test func anotherAppsIsNotOurs() async throws {
        #expect(
            try await flawOf(#""bundleId":"com.example.other","environment":"Production","appAppleId":42"#) == .bundle)
        #expect(try await flawOf(#""bundleId":"com.example.app","environment":"Production","appAppleId":43"#) == .appId)
        #expect(try await flawOf(#""bundleId":"com.example.app","environment":"Production""#) == .appId)
        #expect(try await flawOf(#""bundleId":"com.example.app","environment":"Sandbox""#) == nil)
        #expect(try await flawOf(#""bundleId":"com.example.app","environment":"Xcode""#) == .environment)
        #expect(try await flawOf(#""environment":"Sandbox""#) == .bundle)
        #expect(try await flawOf(body: #""unheardOf":{}"#) == nil, "of an unknown object no app is judged")
    }

    @Test func itsPartsAreOfTheSame() async throws {
        #expect(try await flawOf(ours, transaction: transaction(bundle: "com.example.other")) == .bundle)
        #expect(try await flawOf(ours, transaction: transaction(environment: "Sandbox")) == .mismatch)
        #expect(try await flawOf(ours, transaction: transaction(), renewal: renewal(of: "3")) == .mismatch)
        #expect(
            try await flawOf(ours, transaction: transaction(), renewal: renewal(environment: "Sandbox")) == .mismatch)
        #expect(try await flawOf(ours, renewal: renewal()) == .mismatch)
    }

    @Test func eachPartIsSigned() async throws {
        let foreign = try TrustFixture.make(.transactions).get()
        let text = try foreign.sign(json: TrustFixture.transaction())
        #expect(try await flawOf(ours, transaction: text) == .untrustedRoot)
        #expect(try await flawOf(ours, transaction: "a.b.c") == .unreadable)
    }

    @Test func aNotificationWithoutACustomerIsAccepted() async throws {
        #expect(try await flawOf(body: #""summary":{\#(ours)}"#) == nil)
        #expect(try await flawOf(body: #""appData":{\#(ours)}"#) == nil)
        let token = #""externalPurchaseToken":{"externalPurchaseId":"SANDBOX_1","bundleId":"com.example.app"}"#
        #expect(try await flawOf(body: token) == nil)
    }
}
