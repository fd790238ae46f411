import RelayCore
import Testing

@testable import AppleStore

@Suite("StoreKit 2 transactions are read leniently")
struct SignedTransactionTests {
    static let payload = """
        {"transactionId":"2000000700000002","originalTransactionId":"2000000700000001",
        "previousOriginalTransactionId":"2000000600000001","webOrderLineItemId":"2000000090000001",
        "bundleId":"com.example.app","productId":"com.example.month","subscriptionGroupIdentifier":"21000001",
        "purchaseDate":1795000000000,"originalPurchaseDate":1792408000000,"expiresDate":1797592000000.75,"quantity":1,
        "type":"Auto-Renewable Subscription","appAccountToken":"7E3FB204-2b5f-4d5c-9c0e-1f2a3b4c5d6e",
        "inAppOwnershipType":"FAMILY_SHARED","signedDate":1795000001000,"environment":"Production",
        "revocationDate":1795000002000,"revocationReason":1,"revocationType":"REFUND_PRORATED",
        "revocationPercentage":50000,"isUpgraded":true,"offerType":2,"offerIdentifier":"offer",
        "offerDiscountType":"FREE_TRIAL","offerPeriod":"P1M","transactionReason":"RENEWAL","storefront":"POL",
        "storefrontId":"143478","price":29990,"currency":"PLN","appTransactionId":"704897469903700000",
        "billingPlanType":"MONTHLY","futureField":{"a":[1]}}
        """

    static func transaction(_ text: String) throws -> SignedTransaction {
        let read = try PurchaseReader.read(text, transactionId: "5")
        return try #require(read.document.signedTransaction)
    }

    @Test("every field is read")
    func fields() throws {
        let text = " \n" + jws(payload: Self.payload) + "\n"
        let payload = try Self.transaction(text).payload
        #expect(payload.transactionId == "2000000700000002")
        #expect(payload.originalTransactionId == "2000000700000001")
        #expect(payload.previousOriginalTransactionId == "2000000600000001")
        #expect(payload.webOrderLineItemId == "2000000090000001")
        #expect(payload.bundleId == "com.example.app")
        #expect(payload.productId == "com.example.month")
        #expect(payload.environment == AppleEnvironment(raw: "Production"))
        #expect(payload.signedDate?.millisecondsSince1970 == 1_795_000_001_000)
        #expect(payload.purchaseDate?.millisecondsSince1970 == 1_795_000_000_000)
        #expect(payload.originalPurchaseDate?.millisecondsSince1970 == 1_792_408_000_000)
        #expect(payload.expiresDate?.millisecondsSince1970 == 1_797_592_000_000)
        #expect(payload.type == .autoRenewableSubscription)
        #expect(payload.inAppOwnershipType == "FAMILY_SHARED")
        #expect(payload.revocationDate?.millisecondsSince1970 == 1_795_000_002_000)
        #expect(payload.revocationReason == 1)
        #expect(payload.revocationType == "REFUND_PRORATED")
        #expect(payload.isUpgraded == true)
        #expect(payload.offerType == 2)
        #expect(payload.offerIdentifier == "offer")
        #expect(payload.offerDiscountType == "FREE_TRIAL")

        let read = try PurchaseReader.read(text, transactionId: "5")
        #expect(read.document.signedTransaction != nil)
        #expect(read.originalTransactionId == "2000000700000001")
        #expect(read.transactionId == "2000000700000002")
        #expect(read.issuedDate?.millisecondsSince1970 == 1_795_000_001_000)
        #expect(read.entry.isCancelled)
        #expect(read.entry.cancellationDate?.millisecondsSince1970 == 1_795_000_002_000)
        #expect(read.entry.kind == .autoRenewableSubscription)
        #expect(read.entry.isTrialPeriod == true)
        #expect(read.entry.isInIntroductoryOfferPeriod == false)
        #expect(read.entry.promotionalOfferId == "offer")
    }

    @Test("what verification needs is kept as it was")
    func verificationMaterial() throws {
        let text = jws(payload: Self.payload)
        let signed = try Self.transaction(text).jws
        #expect(text.hasPrefix(String(decoding: signed.signingInput, as: UTF8.self) + "."))
        #expect(signed.signingInput.split(separator: UInt8(ascii: ".")).count == 2)
        #expect(signed.payload == Array(Self.payload.utf8))
        #expect(signed.signature == Array("signature".utf8))
        #expect(signed.header.algorithm == "ES256")
        #expect(signed.header.certificates == [[0x30, 0], [0x30, 1], [0x30, 2]])
    }

    @Test("other shapes and unknown kinds are absent, ids may be numbers")
    func lenient() throws {
        let payload = try Self.transaction(
            jws(
                payload: """
                    {"transactionId":2000000700000002,"originalTransactionId":"1","purchaseDate":"1795000000000",
                    "expiresDate":"soon","type":"Rental","transactionReason":7,"offerType":9,"quantity":"1",
                    "revocationReason":"x","environment":"Moon","isUpgraded":1,"bundleId":{"a":1},"productId":null,
                    "signedDate":1e999,"revocationDate":null,"price":1.5}
                    """)
        ).payload
        #expect(payload.transactionId == "2000000700000002")
        #expect(payload.purchaseDate?.millisecondsSince1970 == 1_795_000_000_000)
        #expect(payload.expiresDate == nil)
        #expect(payload.type == nil)
        #expect(payload.offerType == 9)
        #expect(payload.environment.kind == .unknown)
        #expect(payload.environment.raw == "Moon")
        #expect(payload.bundleId == nil)
        #expect(payload.productId == nil)
        #expect(payload.signedDate == nil)
        #expect(!payload.isRevoked)
    }

    @Test("a revocation with an unreadable date is still a revocation")
    func unreadableRevocation() throws {
        let text = jws(payload: #"{"transactionId":"2","originalTransactionId":"1","revocationDate":"soon"}"#)
        let read = try PurchaseReader.read(text, transactionId: "5")
        #expect(read.entry.isCancelled)
        #expect(read.entry.cancellationDate == nil)
    }

    @Test("Xcode's zero is no key")
    func xcode() throws {
        let text = jws(
            payload: #"{"transactionId":"0","originalTransactionId":"0","environment":"Xcode","productId":"p"}"#)
        let read = try PurchaseReader.read(text, transactionId: "0")
        #expect(read.originalTransactionId == nil)
        #expect(read.transactionId == nil)
        #expect(read.productId == "p")
        #expect(read.environment.kind == .xcode)
    }

    @Test("Apple's other signed objects are recognized")
    func otherPayloads() {
        let appTransaction = jws(payload: #"{"receiptType":"Production","bundleId":"a","appTransactionId":"1"}"#)
        let renewal = jws(payload: #"{"originalTransactionId":"1","productId":"p","autoRenewStatus":1}"#)
        let notification = jws(payload: #"{"notificationType":"TEST","notificationUUID":"1"}"#)
        #expect(readError { _ = try PurchaseReader.read(appTransaction, transactionId: "5") } == .appTransaction)
        #expect(readError { _ = try PurchaseReader.read(renewal, transactionId: "5") } == .notATransaction)
        #expect(readError { _ = try PurchaseReader.read(notification, transactionId: "5") } == .notATransaction)
    }

    @Test(
        "other data than a compact JWS is refused",
        arguments: [
            ".", "..", "...", "e30.e30", "e30.e30.e30.e30", "e30.e30.e30.e30.e30", ".e30.e30", "e30..e30",
            "e30=.e30.e30", "e30.e30.e3+", "e30.W10.e30", "W10.e30.e30", "e30.bnVsbA.e30", "e30.AAAA.e30",
            "e 30.e30.e30",
            "AAAA.e30.e30", "x.y.z",
        ])
    func refused(text: String) {
        #expect(readError { _ = try PurchaseReader.read(text, transactionId: "5") } == .malformedJWS)
    }

    @Test(
        "a header with other certificates than base64 is refused",
        arguments: [#"{"x5c":"MAA="}"#, #"{"x5c":[1]}"#, #"{"x5c":["*"]}"#, #"{"x5c":[""]}"#])
    func badCertificates(header: String) {
        #expect(
            readError { _ = try PurchaseReader.read(jws(header: header, payload: Self.payload), transactionId: "5") }
                == .malformedJWS)
    }

    @Test("without certificates or signature it can be read; verification refuses it")
    func unsigned() throws {
        let text = jws(header: #"{"alg":"none"}"#, payload: Self.payload)
        let unsigned = text[...(text.lastIndex(of: ".") ?? text.startIndex)]
        let signed = try Self.transaction(String(unsigned)).jws
        #expect(signed.signature.isEmpty)
        #expect(signed.header.certificates.isEmpty)
        #expect(signed.header.algorithm == "none")
    }

    @Test("too many bytes or certificates, and nesting without end, are refused")
    func bounded() {
        let certificates = Array(repeating: #""MAA=""#, count: 17).joined(separator: ",")
        let many = jws(header: #"{"x5c":[\#(certificates)]}"#, payload: Self.payload)
        #expect(readError { _ = try PurchaseReader.read(many, transactionId: "5") } == .malformedJWS)
        let deep = jws(payload: String(repeating: #"{"a":"#, count: 20_000))
        #expect(readError { _ = try PurchaseReader.read(deep, transactionId: "5") } == .malformedJWS)
        let large = "e30." + String(repeating: "A", count: ReceiptLimits.jwsBytes) + ".e30"
        #expect(readError { _ = try PurchaseReader.read(large, transactionId: "5") } == .tooLarge)
        #expect(readError { _ = try CompactJWS(large) } == .tooLarge)
    }

    @Test("cut anywhere before its signature, it is refused")
    func truncated() throws {
        let text = Array(jws(payload: Self.payload).utf8)
        let lastDot = try #require(text.lastIndex(of: UInt8(ascii: ".")))
        for length in stride(from: 1, through: lastDot, by: 1) {
            #expect(readError { _ = try PurchaseDocument(.compactJWS(Array(text[..<length]))) } != nil)
        }
    }
}
