import Crypto
import Foundation
import RelayCore
import SwiftASN1
import Testing
import X509

@testable import AppleStore

@Suite(
    "Receipts that were really issued are read as others read them",
    .enabled(if: Fixtures.folder != nil, Fixtures.absent))
struct FixtureReceiptTests {
    static let files = Fixtures.manifest.filter { $0.kind == "app-receipt" }.map(\.file)
    static let generatedFiles = Fixtures.generated.filter { $0.kind == "app-receipt" }.map(\.file)

    @Test("no receipt of the set is left out")
    func complete() throws {
        let folder = try #require(Fixtures.folder)
        let paths = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
        let expected = paths.filter { $0.hasSuffix(".expected.json") }.map { $0.replacing(".expected.json", with: "") }
        #expect(!expected.isEmpty)
        #expect(Set(expected) == Set(Self.files))
        let generated = paths.filter { $0.hasPrefix("generated/receipts/") }.map {
            $0.replacing("generated/", with: "")
        }
        #expect(!generated.isEmpty)
        #expect(Set(generated) == Set(Self.generatedFiles))
    }

    @Test("every field", arguments: files)
    func fields(file: String) throws {
        let expected = try Fixtures.decode(ExpectedReceipt.self, file + ".expected.json")
        let data = try Fixtures.receiptData(file)
        guard case .binary(let bytes) = data else {
            Issue.record("\(file) is no app receipt")
            return
        }
        let receipt = try SignedReceipt(berEncoded: bytes).receipt
        let compare = Comparison(file: file)
        compare.same("size", bytes.count, expected.receipt.derBytes)
        compare.same("environment", receipt.environment.raw, expected.receipt.environment)
        compare.same("bundleId", receipt.bundleId, BundleID(expected.receipt.bundleId))
        try compare.same("creationDate", receipt.creationDate, written: expected.receipt.creationDate)
        compare.same("inAppCount", receipt.inAppPurchases.count, expected.receipt.inAppCount)
        compare.same(
            "originalTransactionIds", Set(receipt.inAppPurchases.compactMap(\.originalTransactionId)),
            Set(expected.receipt.originalTransactionIds.compactMap(Self.known)))
        compare.same("number of entries listed", receipt.inAppPurchases.count, expected.inApp.count)
        for (index, (purchase, wanted)) in zip(receipt.inAppPurchases, expected.inApp).enumerated() {
            try Self.compare(purchase, wanted, Comparison(file: "\(file), entry \(index)"))
        }
    }

    private static func compare(
        _ purchase: PurchaseEntry, _ wanted: ExpectedReceipt.Purchase, _ compare: Comparison
    ) throws {
        compare.same("productId", purchase.productId, ProductID(wanted.productId))
        compare.same("transactionId", purchase.transactionId, Self.known(wanted.transactionId))
        compare.same("originalTransactionId", purchase.originalTransactionId, Self.known(wanted.originalTransactionId))
        try compare.same("purchaseDate", purchase.purchaseDate, written: wanted.purchaseDate)
        try compare.same("originalPurchaseDate", purchase.originalPurchaseDate, written: wanted.originalPurchaseDate)
        try compare.same("expiresDate", purchase.expiresDate, written: wanted.expiresDate)
        try compare.same("cancellationDate", purchase.cancellationDate, written: wanted.cancellationDate)
        compare.same("isCancelled", purchase.isCancelled, wanted.cancellationDate != nil)
        compare.same(
            "webOrderLineItemId", purchase.webOrderLineItemId, Self.known(wanted.webOrderLineItemId.map(String.init)))
        let kinds: [PurchaseEntry.Kind] = [
            .nonConsumable, .consumable, .nonRenewingSubscription, .autoRenewableSubscription,
            .autoRenewableSubscription,
        ]
        let byItsEnd = wanted.expiresDate == nil ? nil : PurchaseEntry.Kind.autoRenewableSubscription
        compare.same("kind", purchase.kind, wanted.productTypeUndocumented.map { kinds[Int($0)] } ?? byItsEnd)
        compare.same("isTrial", purchase.isTrialPeriod, wanted.isTrial.map { $0 != 0 })
        compare.same("isIntro", purchase.isInIntroductoryOfferPeriod, wanted.isIntro.map { $0 != 0 })
        compare.same("promoOfferId", purchase.promotionalOfferId, wanted.promoOfferId)
    }

    /// Xcode writes `0` for none.
    private static func known(_ id: String?) -> TransactionID? { id == "0" ? nil : TransactionID(id) }

    @Test("the purchase that counts", arguments: files)
    func choice(file: String) throws {
        let expected = try Fixtures.decode(ExpectedReceipt.self, file + ".expected.json")
        let data = try Fixtures.receiptData(file)
        let compare = Comparison(file: file)
        guard expected.receipt.inAppCount > 0 else {
            #expect(readError { _ = try PurchaseReader.read(data, transactionId: "1") } == .noInAppPurchase)
            return
        }
        let read = try PurchaseReader.read(data, transactionId: "1")
        #expect(read.document.signedReceipt != nil)
        compare.same("bundleId", read.bundleId, BundleID(expected.receipt.bundleId))
        if let latest = expected.receipt.latestExpiringSubscription {
            compare.same("productId", read.productId, ProductID(latest.productId))
            compare.same(
                "transactionId", read.transactionId,
                latest.transactionId == "0" ? nil : TransactionID(latest.transactionId))
            compare.same(
                "originalTransactionId", read.originalTransactionId, TransactionID(latest.originalTransactionId))
            try compare.same("expiresDate", read.entry.expiresDate, written: latest.expiresDate)
        } else {
            compare.same("expiresDate", read.entry.expiresDate, nil)
            compare.same("subscriptions", read.subscriptions.count, 0)
        }
        // Whichever entry the app names, the entry's subscription counts.
        for entry in expected.inApp {
            guard let id = entry.transactionId, let original = entry.originalTransactionId else { continue }
            for asked in [id, original] {
                let held = try PurchaseReader.read(data, transactionId: TransactionID(asked))
                compare.same("originalTransactionId of a named entry", held.originalTransactionId?.text, original)
            }
        }
    }

    @Test("a receipt has the contents of Apple's answer for it")
    func againstVerifyReceipt() throws {
        let folder = "RevenueCat+purchases-ios/"
        let answer = try Fixtures.decode(
            VerifyReceiptAnswer.self, folder + "verifyReceiptSample1.json", keys: .convertFromSnakeCase
        ).receipt
        let document = try PurchaseDocument(try Fixtures.receiptData(folder + "base64encodedreceiptsample1.txt"))
        let signed = try #require(document.signedReceipt)
        let compare = Comparison(file: "verifyReceiptSample1.json")
        compare.same("receipt_type", signed.receipt.environment.raw, answer.receiptType)
        compare.same("adam_id", signed.receipt.appId, answer.adamId)
        compare.same(
            "receipt_creation_date_ms", signed.receipt.creationDate?.millisecondsSince1970,
            Int64(answer.receiptCreationDateMs))
        compare.same("number of entries", signed.receipt.inAppPurchases.count, answer.inApp.count)
        #expect(!answer.inApp.isEmpty)
        for (index, wanted) in answer.inApp.enumerated() {
            let compare = Comparison(file: "verifyReceiptSample1.json, entry \(index)")
            let purchase = signed.receipt.inAppPurchases.first { $0.transactionId?.text == wanted.transactionId }
            compare.same("product_id", purchase?.productId?.text, wanted.productId)
            compare.same("original_transaction_id", purchase?.originalTransactionId?.text, wanted.originalTransactionId)
            compare.same(
                "purchase_date_ms", purchase?.purchaseDate?.millisecondsSince1970, Int64(wanted.purchaseDateMs))
            compare.same(
                "original_purchase_date_ms", purchase?.originalPurchaseDate?.millisecondsSince1970,
                Int64(wanted.originalPurchaseDateMs))
            compare.same(
                "expires_date_ms", purchase?.expiresDate?.millisecondsSince1970, Int64(wanted.expiresDateMs))
            compare.same("web_order_line_item_id", purchase?.webOrderLineItemId?.text, wanted.webOrderLineItemId)
            compare.same("is_trial_period", purchase?.isTrialPeriod, Bool(wanted.isTrialPeriod))
            compare.same(
                "is_in_intro_offer_period", purchase?.isInIntroductoryOfferPeriod,
                Bool(wanted.isInIntroOfferPeriod))
        }
    }

    @Test("the kept data verifies: the signature, by the signer's certificate", arguments: files)
    func signature(file: String) throws {
        let wanted = try #require(Fixtures.manifest.first { $0.file == file }?.signature)
        let signed = try #require(try PurchaseDocument(try Fixtures.receiptData(file)).signedReceipt)
        let signer = try #require(signed.signers.first)
        #expect(signer.digestAlgorithm == (wanted.digest == "sha1" ? .sha1 : .sha256))
        let isValid = try Self.verifies(signed)
        #expect(isValid == wanted.rawSignatureValid)
    }

    /// Checks only the signature over the bytes, without chain and dates.
    private static func verifies(_ signed: SignedReceipt) throws -> Bool {
        let signer = try #require(signed.signers.first)
        let algorithm: Certificate.SignatureAlgorithm =
            signer.digestAlgorithm == .sha1 ? .sha1WithRSAEncryption : .sha256WithRSAEncryption
        let certificates = try signed.certificates.map { try Certificate(derEncoded: Array($0)) }
        guard case .issuerAndSerialNumber(_, let serialNumber) = signer.identifier,
            let leaf = certificates.first(where: {
                $0.serialNumber == Certificate.SerialNumber(bytes: serialNumber)
            })
        else { return false }
        let octets = signer.signedAttributes?.signedOctets ?? Array(signed.payload)
        if let attributes = signer.signedAttributes {
            guard attributes.contentType == signed.contentType, let digest = attributes.messageDigest,
                SHA256.hash(data: signed.payload).elementsEqual(digest)
            else { return false }
        }
        return leaf.publicKey.isValidSignature(signer.signature, for: octets, signatureAlgorithm: algorithm)
    }

    @Test("generated receipts", arguments: generatedFiles)
    func generated(file: String) throws {
        let entry = try #require(Fixtures.generated.first { $0.file == file })
        let text = try Fixtures.text("generated/" + file)
        let error = readError { _ = try PurchaseReader.read(text, transactionId: "1") }
        switch file {
        case "receipts/truncated.b64": #expect(error == .notPKCS7)
        case "receipts/empty.b64": #expect(error == .empty)
        case "receipts/no-inapp.b64": #expect(error == .noInAppPurchase)
        default:
            let read = try PurchaseReader.read(text, transactionId: "1")
            #expect(read.bundleId == (file.contains("other-bundle") ? "com.example.other" : "com.example.middleware"))
            #expect(read.environment.kind == (file.contains("sandbox") ? .sandbox : .production))
            #expect(read.originalTransactionId != nil)
            guard let wanted = entry.identify else { break }
            let compare = Comparison(file: file)
            compare.same(
                "originalTransactionId", read.originalTransactionId, TransactionID(wanted.originalTransactionId))
            compare.same("transactionId", read.transactionId, TransactionID(wanted.transactionId))
            compare.same("productId", read.productId, ProductID(wanted.productId))
            try compare.same("expiresDate", read.entry.expiresDate, written: wanted.expiresDate)
            let signed = try #require(read.document.signedReceipt)
            let isValid = try Self.verifies(signed)
            #expect(isValid)
        }
    }

    @Test("the kept data of a changed receipt does not verify")
    func tampered() throws {
        let data = try Fixtures.receiptData("generated/receipts/tampered-product.b64")
        let signed = try #require(try PurchaseDocument(data).signedReceipt)
        let isValid = try Self.verifies(signed)
        #expect(!isValid)
    }

    @Test("other data is refused")
    func negatives() throws {
        let text = try Fixtures.text("IdeasOnCanvas+AppReceiptValidator/not_a_receipt")
        #expect(readError { _ = try PurchaseReader.read(text, transactionId: "1") } == .notBase64)
        let payload = try Fixtures.bytes("linjunpop+receipt_decoder/payload.der")
        #expect(readError { _ = try PurchaseReader.read(.binary(payload), transactionId: "1") } == .notPKCS7)
        for certificate in ["tikhop+TPInAppReceipt/AppleIncRootCertificate.cer", "generated/roots/fixture-ec-root.der"]
        {
            let bytes = try Fixtures.bytes(certificate)
            #expect(readError { _ = try PurchaseReader.read(.binary(bytes), transactionId: "1") } == .notPKCS7)
        }
    }

    @Test("the old transaction receipt")
    func legacy() throws {
        let text = try Fixtures.text("apple+app-store-server-library-swift/legacyTransaction.b64")
        let read = try PurchaseReader.read(text, transactionId: "1")
        #expect(read.document.isTransactionReceipt)
        #expect(read.transactionId == "33993399")
        #expect(read.originalTransactionId == nil)
    }
}
