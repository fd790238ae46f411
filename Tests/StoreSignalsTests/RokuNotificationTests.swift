import Foundation
import RelayCore
import StoreSignals
import Testing

@Suite struct RokuNotificationTests {
    private static let sale =
        #"{"customerId":"2df5","transactionType":"Sale","transactionId":"037w","channelId":"1143791","productCode":"p_MonthlySub","price":0.99,"currency":"usd","originalTransactionId":"4475","originalPurchaseDate":"2022-03-03T02:51:33Z","eventDate":"2024-02-03T11:27:16.458297119Z","expirationDate":"2024-03-03T02:51:33Z","responseKey":"abcb","isFreeTrial":false,"email":"ana@example.test","firstName":"Ana","zip":"1"}"#

    private func token(
        _ message: String, type: String = "roku.rpay.push", key: String? = "m-1", isURLSafe: Bool = true
    ) -> String {
        func encode(_ text: String, isURLSafe: Bool = true) -> String {
            let standard = Data(text.utf8).base64EncodedString()
            guard isURLSafe else { return standard }
            return standard.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        let keyed = key.map { #","x-Roku-message-key":"\#($0)""# } ?? ""
        let claims =
            #"{"iss":"Roku","x-Roku-message":"\#(encode(message, isURLSafe: isURLSafe))","x-Roku-message-type":"\#(type)"\#(keyed)}"#
        return "\(encode(#"{"alg":"RS256","kid":"k"}"#)).\(encode(claims)).c2ln"
    }

    private func read(_ body: String) throws -> RokuNotification { try RokuNotification(body: Array(body.utf8)) }

    @Test(arguments: [true, false]) func aSignedOneIsReadInEitherAlphabet(isURLSafe: Bool) throws {
        // Its Base64 contains both characters that differ between the alphabets.
        let message = Self.sale.replacing("2df5", with: "??>>~~")
        let told = try read(" \(token(message, isURLSafe: isURLSafe))\n")
        let one = told.notification
        #expect(told.form == .signed && one.store == .roku && one.type == "Sale" && one.uuid == "m-1")
        #expect(one.originalTransactionID == "roku:4475" && one.bundleID == "1143791")
        #expect(one.responseKey == "abcb" && !one.isUnproven && one.isOver == false && one.environment == .unknown)
        #expect(one.saidAt == Timestamp(external: "2024-02-03T11:27:16.458297Z"))
        #expect(try one.identity == read(token(Self.sale)).notification.identity, "the key alone")
        #expect(try one.identity != read(token(Self.sale, key: "m-2")).notification.identity)
    }

    @Test func anUnsignedOneProvesNothing() throws {
        let told = try read(Self.sale)
        #expect(told.form == .unsigned && told.notification.isUnproven)
        #expect(told.notification.originalTransactionID == "roku:4475" && told.notification.uuid == "abcb")
        let another = try read(Self.sale.replacing("\"Sale\"", with: "\"Refund\"")).notification
        #expect(told.notification.identity != another.identity)
        // Its sender is not proven.
        #expect(another.refund == nil)
        #expect(try read(token(Self.sale.replacing("\"Sale\"", with: "\"Refund\""))).notification.refund?.order == nil)
        #expect(try told.notification.identity != read(token(Self.sale)).notification.identity)
    }

    @Test func whatIsNoTransactionIsANotificationIfItIsSigned() throws {
        #expect(try read(token("hello")).notification.type == "UNKNOWN")
        #expect(try read(token("[1]")).notification.originalTransactionID == nil)
        let keys = try read(token("x", type: "roku.invalidate_public_keys")).notification
        #expect(keys.type == "roku.invalidate_public_keys" && keys.originalTransactionID == nil)
        #expect(try !read(token("x", key: nil)).notification.identity.isEmpty)
        let credit = try read(token(#"{"transactionType":"Credit","transactionId":"579743","responseKey":"k"}"#))
        #expect(credit.notification.originalTransactionID == nil && credit.notification.type == "Credit")
    }

    @Test(arguments: ["", " ", "[]", "{", "a.b", "a.b.c", "{}", #"{"transactionType":"Sale","transactionId":"1"}"#])
    func whatIsNoNotificationIsRefused(body: String) {
        #expect(throws: SignalError.self) { try read(body) }
    }

    @Test func noStrangerStoresMuch() {
        let long = Self.sale.dropLast() + #","comments":"\#(String(repeating: "x", count: 20_000))"}"#
        #expect(throws: SignalError.self) { try read(String(long)) }
    }

    @Test(
        arguments: [
            ("Cancellation", "2024-02-03T11:27:15Z", true), ("Cancellation", "2024-03-03T00:00:00Z", nil),
            ("UpgradeCancellation", "2024-02-03T11:27:15Z", true), ("UpgradeCancellation", "2024-03-03T00:00:00Z", nil),
            ("Sale", "2024-03-03T00:00:00Z", false), ("GraceRecovered", "2024-03-03T00:00:00Z", false),
            ("OnHoldRecovered", "2024-03-03T00:00:00Z", false), ("OnHoldInitiated", "2024-01-03T00:00:00Z", nil),
            ("Refund", "2024-01-03T00:00:00Z", nil), ("DowngradeSale", "2024-03-03T00:00:00Z", nil),
            ("Chargeback", "", nil), ("Resubscribe", "", false), ("Cancellation", "", nil),
        ] as [(String, String, Bool?)])
    func onlyStatedFactsAreExpected(_ type: String, _ end: String, _ isOver: Bool?) throws {
        let body =
            #"{"transactionType":"\#(type)","transactionId":"t","originalTransactionId":"o","eventDate":"2024-02-03T11:27:16Z","expirationDate":"\#(end)","responseKey":"k"}"#
        #expect(try read(body).notification.isOver == isOver)
    }

    @Test func whatTellsOfAPersonIsMasked() throws {
        for body in [Self.sale, token(Self.sale)] {
            let shown = String(decoding: try #require(RokuNotification.payload(of: Array(body.utf8))), as: UTF8.self)
            #expect(!shown.contains("ana@") && !shown.contains("Ana") && !shown.contains(#""zip":"1""#))
            #expect(shown.contains(#""transactionType":"Sale""#) && shown.contains("***"))
        }
    }
}
