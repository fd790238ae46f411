import RelayCore
import Testing

@testable import AppleStore

@Suite("App receipts are read completely in every encoding")
struct AppReceiptTests {
    static func subscription(id: String = "200", original: String? = "100") -> WrittenPurchase {
        WrittenPurchase(
            id: id, original: original, purchased: "2026-01-01T00:00:00Z", expires: "2026-02-01T00:00:00Z")
    }

    @Test("every field is read, in definite and indefinite form", arguments: BERWriter.Form.allCases)
    func everyField(form: BERWriter.Form) throws {
        var builder = ReceiptBuilder(form)
        builder.add(1, BERWriter.integer(1_234_567_890))
        builder.add(10, BERWriter.ia5("4+"))
        builder.add(15, BERWriter.integer(500_935_934_584_949_200))
        builder.add(16, BERWriter.integer(846_821_007))
        builder.add(18, BERWriter.ia5("2013-08-01T07:00:00Z"))
        builder.add(Self.subscription())
        let signed = try SignedReceipt(berEncoded: builder.bytes)

        let receipt = signed.receipt
        #expect(receipt.environment == AppleEnvironment(raw: "Production"))
        #expect(receipt.environment.kind == .production)
        #expect(receipt.appId == 1_234_567_890)
        #expect(receipt.bundleId == "com.example.app")
        #expect(receipt.creationDate == date("2026-01-02T03:04:05Z"))

        let purchase = try #require(receipt.inAppPurchases.first)
        #expect(receipt.inAppPurchases.count == 1)
        #expect(purchase.productId == "com.example.month")
        #expect(purchase.transactionId == "200")
        #expect(purchase.originalTransactionId == "100")
        #expect(purchase.purchaseDate == date("2026-01-01T00:00:00Z"))
        #expect(purchase.originalPurchaseDate == date("2025-01-01T00:00:00Z"))
        #expect(purchase.kind == .autoRenewableSubscription)
        #expect(purchase.expiresDate == date("2026-02-01T00:00:00Z"))
        #expect(purchase.webOrderLineItemId == "340000594256018")
        #expect(purchase.cancellationDate == nil)
        #expect(!purchase.isCancelled)
        #expect(purchase.isTrialPeriod == false)
        #expect(purchase.isInIntroductoryOfferPeriod == true)
        #expect(purchase.promotionalOfferId == "offer-1")
    }

    @Test("what verification needs is kept as it was", arguments: BERWriter.Form.allCases)
    func verificationMaterial(form: BERWriter.Form) throws {
        let builder = ReceiptBuilder(form)
        let signed = try SignedReceipt(berEncoded: builder.bytes)
        #expect(Array(signed.payload) == builder.payload)
        #expect(signed.contentType == .data)
        #expect(signed.certificates.map(Array.init) == [[0x30, 0x03, 0x02, 0x01, 0x01]])
        let signer = try #require(signed.signers.first)
        #expect(signed.signers.count == 1)
        #expect(signer.digestAlgorithm == .sha256)
        #expect(signer.signatureAlgorithm == .rsaEncryption)
        #expect(Array(signer.signature) == Array(repeating: 0x5A, count: 256))
        #expect(signer.signedAttributes == nil)
        #expect(
            signer.identifier == .issuerAndSerialNumber(issuer: [0x30, 0x00], serialNumber: [0x12, 0x67]))
    }

    @Test("signed attributes are kept under the tag that is signed")
    func signedAttributes() throws {
        let digest: [UInt8] = Array(repeating: 3, count: 32)
        let messageDigest: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x04]
        let contentType: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03]
        let data: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
        let writer = BERWriter(form: .definite)
        let contents =
            writer.sequence(contentType, writer.set([data]))
            + writer.sequence(messageDigest, writer.set([writer.octets(digest)]))
        let document = BERDocument(bytes: writer.context(0, contents))
        var cursor = document.root
        let attributes = try CMSSignedAttributes(document, try #require(try document.next(&cursor)))
        #expect(attributes.signedOctets == writer.element(0x31, contents))
        #expect(attributes.messageDigest.map(Array.init) == digest)
        #expect(attributes.contentType == .data)
    }

    @Test("a receipt without purchases is valid", arguments: BERWriter.Form.allCases)
    func emptyReceipt(form: BERWriter.Form) throws {
        let bytes = ReceiptBuilder(form).bytes
        let document = try PurchaseDocument(.binary(bytes))
        #expect(readError { _ = try PurchaseReader.read(document, transactionId: "200") } == .noInAppPurchase)
        #expect(readError { _ = try PurchaseReader.read(base64(bytes), transactionId: "200") } == .noInAppPurchase)
    }

    /// With two values, one reader might use the first and another the second.
    @Test("a receipt with two bundle ids or creation dates is refused", arguments: [0, 1, 2, 12])
    func twiceWhose(attribute: Int64) throws {
        var builder = ReceiptBuilder()
        builder.add(attribute, BERWriter.utf8("com.example.other"))
        builder.add(attribute, BERWriter.utf8("com.example.other"))
        #expect(throws: (any Error).self) { try SignedReceipt(berEncoded: builder.bytes) }
    }

    @Test("of a repeated purchase attribute the first readable one counts")
    func duplicates() throws {
        var builder = ReceiptBuilder()
        var purchase = Self.subscription()
        purchase.attributes.append((1705, BERWriter.utf8("999")))
        purchase.attributes.append((1712, BERWriter.ia5("2026-01-15T00:00:00Z")))
        purchase.attributes.insert((1703, BERWriter.utf8("")), at: 0)
        builder.add(purchase)
        let receipt = try SignedReceipt(berEncoded: builder.bytes).receipt
        #expect(receipt.bundleId == "com.example.app")
        #expect(receipt.inAppPurchases.first?.originalTransactionId == "100")
        #expect(receipt.inAppPurchases.first?.transactionId == "200")
        #expect(receipt.inAppPurchases.first?.isCancelled == true)
    }

    @Test("a cancellation with an unreadable date is still a cancellation")
    func unreadableCancellation() throws {
        var builder = ReceiptBuilder()
        var purchase = Self.subscription()
        purchase.replace(1712, BERWriter.ia5("some day"))
        builder.add(purchase)
        let receipt = try SignedReceipt(berEncoded: builder.bytes).receipt
        #expect(receipt.inAppPurchases.first?.isCancelled == true)
        #expect(receipt.inAppPurchases.first?.cancellationDate == nil)
    }

    @Test(
        "an id that cannot be stored is absent",
        arguments: ["", "1 2", "1\u{0}2", "café", String(repeating: "1", count: 65)])
    func unusableIds(id: String) throws {
        var builder = ReceiptBuilder()
        builder.add(Self.subscription(id: id, original: id))
        let purchase = try #require(try SignedReceipt(berEncoded: builder.bytes).receipt.inAppPurchases.first)
        #expect(purchase.transactionId == nil)
        #expect(purchase.originalTransactionId == nil)
    }

    @Test("values of another type or shape are absent, and affect nothing else")
    func wrongValues() throws {
        var builder = ReceiptBuilder(environment: nil)
        builder.add(0, BERWriter.integer(5))
        builder.add(1, BERWriter.utf8("1"))
        builder.add(18, BERWriter.ia5("2013-08-01T07:00:00Z") + [0])
        builder.add(15, BERWriter.definite(0x02, Array(repeating: 1, count: 9)))
        builder.add(16, BERWriter.definite(0x02, []))
        var purchase = Self.subscription()
        purchase.replace(1702, BERWriter.definite(0x0C, [0xC3, 0x28]))
        purchase.replace(1701, BERWriter.integer(-3))
        builder.add(purchase)
        let receipt = try SignedReceipt(berEncoded: builder.bytes).receipt
        #expect(receipt.environment == .unnamed)
        #expect(receipt.environment.kind == .unknown)
        #expect(receipt.appId == nil)
        #expect(receipt.inAppPurchases.first?.productId == nil)
        #expect(receipt.inAppPurchases.first?.transactionId == "200")
    }

    @Test("a divided character string is put together")
    func dividedText() throws {
        var builder = ReceiptBuilder()
        var purchase = Self.subscription()
        let pieces = BERWriter.definite(0x04, Array("com.example".utf8)) + BERWriter.definite(0x04, Array(".year".utf8))
        purchase.replace(1702, [0x2C, 0x80] + pieces + [0, 0])
        builder.add(purchase)
        #expect(
            try SignedReceipt(berEncoded: builder.bytes).receipt.inAppPurchases.first?.productId == "com.example.year")
    }

    @Test(
        "environments are known by all their names",
        arguments: [
            ("Production", AppleEnvironment.Kind.production), ("ProductionVPP", .production),
            ("ProductionSandbox", .sandbox), ("ProductionVPPSandbox", .sandbox), ("Sandbox", .sandbox),
            ("Xcode", .xcode), ("LocalTesting", .localTesting), ("Moon", .unknown), ("production", .unknown),
        ])
    func environments(name: String, kind: AppleEnvironment.Kind) throws {
        var builder = ReceiptBuilder(environment: name)
        builder.add(Self.subscription())
        let read = try PurchaseReader.read(base64(builder.bytes), transactionId: "200")
        #expect(read.environment.kind == kind)
        #expect(read.environment.raw == name)
    }
}
