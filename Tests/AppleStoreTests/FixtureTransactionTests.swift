import Crypto
import Foundation
import RelayCore
import SwiftASN1
import Testing
import X509

@testable import AppleStore

@Suite("Signed transactions of others are read", .enabled(if: Fixtures.folder != nil, Fixtures.absent))
struct FixtureTransactionTests {
    static let library = "apple+app-store-server-library-swift/"

    static func jws(_ file: String) throws -> CompactJWS {
        try CompactJWS(try Fixtures.text(file).trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private static func verifies(_ jws: CompactJWS) throws -> Bool {
        let leaf = try Certificate(derEncoded: try #require(jws.header.certificates.first))
        let key = try #require(P256.Signing.PublicKey(leaf.publicKey))
        return key.isValidSignature(
            try P256.Signing.ECDSASignature(rawRepresentation: jws.signature), for: jws.signingInput)
    }

    @Test("Xcode's transaction, with its fractions of milliseconds")
    func xcode() throws {
        let read = try PurchaseReader.read(
            try Fixtures.text(Self.library + "xcode-signed-transaction.jws"), transactionId: "0")
        let transaction = try #require(read.document.signedTransaction)
        let payload = transaction.payload
        #expect(read.environment.kind == .xcode)
        #expect(read.originalTransactionId == nil)
        #expect(read.transactionId == nil)
        #expect(payload.transactionId == "0")
        #expect(payload.originalTransactionId == "0")
        #expect(payload.purchaseDate?.millisecondsSince1970 == 1_697_679_936_049)
        #expect(payload.signedDate?.millisecondsSince1970 == 1_697_679_936_056)
        #expect(payload.expiresDate?.millisecondsSince1970 == 1_700_358_336_049)
        #expect(payload.productId == "pass.premium")
        #expect(payload.bundleId == "com.example.naturelab.backyardbirds.example")
        #expect(payload.offerType == 1)
        #expect(payload.isUpgraded == false)
        #expect(payload.inAppOwnershipType == "PURCHASED")
        #expect(payload.type == .autoRenewableSubscription)
        #expect(transaction.jws.header.certificates.count == 1)
    }

    @Test("a minimal transaction is decoded, but names no purchase")
    func transactionInfo() throws {
        let file = Self.library + "transactionInfo.jws"
        let transaction = try SignedTransaction(try Self.jws(file))
        #expect(transaction.payload.environment.kind == .sandbox)
        #expect(transaction.payload.bundleId == "com.example")
        #expect(transaction.payload.signedDate?.millisecondsSince1970 == 1_672_956_154_000)
        #expect(transaction.jws.header.algorithm == "ES256")
        #expect(transaction.jws.header.certificates.count == 3)
        #expect(
            readError { _ = try PurchaseReader.read(try Fixtures.text(file), transactionId: "1") } == .notATransaction)
        let isValid = try Self.verifies(transaction.jws)
        #expect(isValid)
    }

    @Test("a header without x5c is read, and has no certificates")
    func missingCertificates() throws {
        let jws = try Self.jws(Self.library + "missingX5CHeaderClaim.jws")
        #expect(jws.header.certificates.isEmpty)
        #expect(jws.header.algorithm == "ES256")
    }

    @Test(
        "generated transactions",
        arguments: [
            "generated/jws/tx-active.jws", "generated/jws/tx-revoked.jws", "generated/jws/tx-unknown-fields.jws",
        ])
    func generated(file: String) throws {
        let read = try PurchaseReader.read(try Fixtures.text(file), transactionId: "1")
        let transaction = try #require(read.document.signedTransaction)
        #expect(read.originalTransactionId == "2000000700000001")
        #expect(read.transactionId == "2000000700000002")
        #expect(read.productId == "com.example.premium.month")
        #expect(read.bundleId == "com.example.middleware")
        #expect(read.environment.kind == .production)
        #expect(read.entry.purchaseDate?.millisecondsSince1970 == 1_795_000_000_000)
        #expect(read.entry.expiresDate?.millisecondsSince1970 == 1_797_592_000_000)
        #expect(read.entry.isCancelled == file.contains("revoked"))
        #expect(
            read.entry.cancellationDate?.millisecondsSince1970 == (file.contains("revoked") ? 1_795_000_000_000 : nil))
        #expect(transaction.payload.revocationReason == (file.contains("revoked") ? 0 : nil))
        let isValid = try Self.verifies(transaction.jws)
        #expect(isValid)
    }

    @Test("Apple's sample of a payload")
    func model() throws {
        let payload = try Fixtures.decode(TransactionPayload.self, Self.library + "models/signedTransaction.json")
        #expect(payload.transactionId == "23456")
        #expect(payload.originalTransactionId == "12345")
        #expect(payload.webOrderLineItemId == "34343")
        #expect(payload.environment.kind == .localTesting)
        #expect(payload.revocationReason == 1)
        #expect(payload.revocationDate?.millisecondsSince1970 == 1_698_148_950_000)
        #expect(payload.offerDiscountType == "PAY_AS_YOU_GO")
        #expect(payload.isUpgraded == true)
    }
}
