import Foundation
import RelayCore
import Testing

@testable import AppleStore

@Suite(
    "What was really issued is genuine, and nothing that was forged is",
    .enabled(if: Fixtures.folder != nil, Fixtures.absent))
struct FixtureTrustTests {
    static let receipts = Fixtures.manifest.filter { $0.kind == "app-receipt" }.map(\.file)
    static let generatedReceipts = Fixtures.generated.filter { $0.kind == "app-receipt" }.map(\.file)
    static let generatedTransactions = Fixtures.generated.filter { $0.kind == "jws-transaction" }.map(\.file)

    static let generatedNotifications = Fixtures.generated.filter { $0.kind == "v2-notification" }.map(\.file)

    /// Apps of the generated receipts; the environments are those of default settings.
    private static let scope = StoreScope(
        bundleIds: ["com.example.middleware"], appId: 1_234_567_890, environments: [.production, .sandbox])

    private static func generatedTrust() throws -> ChainOfTrust {
        ChainOfTrust(
            try TrustedRoots(
                adding: ["rsa", "ec"].map { try Fixtures.bytes("generated/roots/fixture-\($0)-root.der") }))
    }

    private func binary(_ file: String) throws -> [UInt8] {
        guard case .binary(let bytes) = try Fixtures.receiptData(file) else { throw NotGenuine(.unreadable, file) }
        return bytes
    }

    @Test("receipts of the App Store, by Apple's root and their own moment", arguments: receipts)
    func real(file: String) async throws {
        let entry = try #require(Fixtures.manifest.first { $0.file == file })
        let signature = try #require(entry.signature)
        let bytes = try binary(file)
        let found = await flaw { try await SignedReceipt(berEncoded: bytes).verify(ChainOfTrust(.appleOnly)) }
        #expect((found == nil) == signature.chainToAppleIncRootAtCreationDate, "\(file): \(String(describing: found))")
    }

    @Test("Xcode's, only where its certificate was added, and then only as Xcode's")
    func xcode() async throws {
        let (folder, file) = ("tikhop+TPInAppReceipt", "receipt-xcode")
        let bytes = try binary("\(folder)/\(file)")
        let receipt = try SignedReceipt(berEncoded: bytes)
        let certificate = Array(try #require(receipt.certificates.first))
        let genuine = try await receipt.verify(ChainOfTrust(TrustedRoots(adding: [certificate])))
        #expect(genuine.isLocal)
        var scope = StoreScope(bundleIds: [], appId: nil, environments: [.production, .sandbox])
        func refusal(_ environment: AppleEnvironment) -> NotGenuine.Code? {
            do {
                try scope.check(genuine, environment: environment, bundleId: receipt.receipt.bundleId, appId: nil)
                return nil
            } catch { return error.code }
        }
        #expect(refusal(receipt.receipt.environment) == .environment)
        scope.environments.insert(.xcode)
        #expect(refusal(receipt.receipt.environment) == nil)
        #expect(refusal(AppleEnvironment(raw: "Production")) == .environment)
    }

    @Test("a transaction that Xcode signed, likewise")
    func xcodeTransaction() async throws {
        let entries = Fixtures.manifest.filter { $0.kind == "jws-xcode" }
        #expect(!entries.isEmpty)
        for entry in entries {
            let text = try Fixtures.text(entry.file).trimmingCharacters(in: .whitespacesAndNewlines)
            let transaction = try SignedTransaction(CompactJWS(text))
            func verify(_ roots: TrustedRoots) async throws -> Genuine {
                try await transaction.jws.verify(ChainOfTrust(roots), signedDate: transaction.payload.signedDate)
            }
            #expect(await flaw { try await verify(.appleOnly) } == .untrustedRoot)
            let own = try TrustedRoots(adding: transaction.jws.header.certificates)
            #expect(try await verify(own).isLocal)
        }
    }

    @Test("generated receipts", arguments: generatedReceipts)
    func generated(file: String) async throws {
        let expected = try #require(Fixtures.generated.first { $0.file == file }).expect
        let found = await flaw {
            let document = try PurchaseDocument(Fixtures.receiptData("generated/\(file)"))
            #expect(try await document.verify(Self.generatedTrust(), Self.scope))
            return Genuine(isLocal: false)
        }
        #expect((found == nil) == (expected != "refuse"), "\(file): \(String(describing: found))")
    }

    @Test("generated transactions", arguments: generatedTransactions)
    func transaction(file: String) async throws {
        let text = try Fixtures.text("generated/\(file)").trimmingCharacters(in: .whitespacesAndNewlines)
        let document = try PurchaseDocument(ReceiptData(text))
        #expect(try await document.verify(Self.generatedTrust(), Self.scope))
    }

    @Test("generated notifications", arguments: generatedNotifications)
    func notification(file: String) async throws {
        struct Body: Decodable { let signedPayload: String? }
        let expected = try #require(Fixtures.generated.first { $0.file == file }).expect
        let found = await flaw {
            let body = try Fixtures.decode(Body.self, "generated/\(file)")
            guard let text = body.signedPayload, let notification = try? SignedNotification(text) else {
                throw NotGenuine(.unreadable, "")
            }
            try await notification.verify(Self.generatedTrust(), Self.scope)
            return Genuine(isLocal: false)
        }
        #expect((found == nil) == (expected == "accept"), "\(file): \(String(describing: found))")
    }

    @Test("transactions whose root is another's test authority")
    func others() async throws {
        let entries = Fixtures.manifest.filter { $0.kind == "jws" }
        #expect(!entries.isEmpty)
        for entry in entries {
            let text = try Fixtures.text(entry.file).trimmingCharacters(in: .whitespacesAndNewlines)
            let jws = try CompactJWS(text)
            let date = AppleTimestamp(millisecondsSince1970: 1_700_000_000_000)
            let found = await flaw { try await jws.verify(ChainOfTrust(.appleOnly), signedDate: date) }
            #expect(found == .untrustedRoot, "\(entry.file)")
        }
    }
}
