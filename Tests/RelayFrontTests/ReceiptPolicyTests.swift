import AppStoreSimulation
import AppleStore
import Foundation
import RelayCore
import Testing

@testable import HTTPServer
@testable import Relay

@Suite("Receipts that are not genuine")
struct ReceiptPolicyTests {
    private static let moment = Date(timeIntervalSince1970: 1_790_000_000)
    private static let authority = Result {
        try StoreAuthority(
            .transactions, name: "Test",
            form: StoreAuthority.Form(validity: moment.addingTimeInterval(-1_000)...moment.addingTimeInterval(1_000)))
    }

    private func policy(_ mode: ReceiptPolicy.Mode, bundle: String = "com.example.app") throws -> ReceiptPolicy {
        let roots = try TrustedRoots(adding: [try Self.authority.get().root])
        return ReceiptPolicy(
            mode, trust: ChainOfTrust(roots),
            scope: StoreScope(bundleIds: [BundleID(bundle)], appId: nil, environments: [.production]))
    }

    private func transaction(_ environment: String = "Production") throws -> String {
        try Self.authority.get().sign(
            json: Data(
                #"{"transactionId":"2","originalTransactionId":"1","bundleId":"com.example.app","environment":"\#(environment)","signedDate":1790000000000}"#
                    .utf8))
    }

    private func judge(_ text: String, _ policy: ReceiptPolicy, app: BundleID = "") async -> (
        Verification, ProblemCode?
    ) {
        var receipt = ReadReceipt(text, transactionID: "2")
        receipt.verification = await policy.judge(receipt, app: app)
        do {
            try policy.check(receipt)
            return (receipt.verification, nil)
        } catch {
            return (receipt.verification, (error as? Problem)?.code)
        }
    }

    @Test(arguments: ReceiptPolicy.Mode.allCases) func genuineOnesGoOn(mode: ReceiptPolicy.Mode) async throws {
        let (verification, refusal) = await judge(try transaction(), try policy(mode))
        #expect(verification == (mode == .off ? .notChecked : .genuine))
        #expect(refusal == nil)
    }

    @Test(arguments: ReceiptPolicy.Mode.allCases) func forgeriesAreAcceptedUnlessEnforced(mode: ReceiptPolicy.Mode)
        async throws
    {
        let policy = try policy(mode, bundle: "com.example.other")
        let cases = [
            try transaction(): "bundle", try transaction("Sandbox"): "environment",
            try transaction().replacing("A", with: "B"): nil, "bm8gcmVjZWlwdA==": "unreadable",
        ]
        for (text, code) in cases {
            let (verification, refusal) = await judge(text, policy)
            #expect((verification.result == .notGenuine) == (mode != .off))
            if mode != .off, let code { #expect(verification.code == code) }
            #expect(refusal == (mode == .enforce ? .receiptNotGenuine : nil))
        }
    }

    /// A key's app counts like the bundle ids of the settings; for a key without an app, the settings count alone.
    @Test(arguments: ReceiptPolicy.Mode.allCases) func theKeysOwnAppCounts(mode: ReceiptPolicy.Mode) async throws {
        let policy = try policy(mode)
        for app in ["", "com.example.app"] {
            let (verification, refusal) = await judge(try transaction(), policy, app: BundleID(app))
            #expect(verification == (mode == .off ? .notChecked : .genuine) && refusal == nil)
        }
        let (verification, refusal) = await judge(try transaction(), policy, app: "com.example.other")
        #expect(verification.code == (mode == .off ? nil : "bundle"))
        #expect(refusal == (mode == .enforce ? .receiptNotGenuine : nil))
        #expect(policy.trusts(verification))
        let proof = await policy.prove(ReadReceipt(try transaction(), transactionID: "2"), app: "com.example.other")
        #expect(proof.code == "bundle")
    }

    /// Transaction receipts have an older kind of signature, which is not verified. A policy that requires verification
    /// refuses them.
    @Test func transactionReceiptsAreNotVerified() async throws {
        let text = Data(
            "{\"signature\" = \"AAAA\"; \"purchase-info\" = \"\(Data("{\"transaction-id\" = \"2\";}".utf8).base64EncodedString())\";}"
                .utf8
        ).base64EncodedString()
        let (observed, passed) = await judge(text, try policy(.observe))
        #expect(observed == .notChecked && passed == nil)
        let (_, refusal) = await judge(text, try policy(.enforce))
        #expect(refusal == .receiptNotGenuine)
    }
}
