import Foundation
import NIOCore
import OutboundHTTP
import RelayCore
import StoreAPI
import Testing

@testable import RokuPay

@Suite struct MappingTests {
    private let readAt = Timestamp(seconds: 1_580_000_000)

    /// Roku's example with replaced members.
    private func subscription(_ more: String = "") throws -> StoreSubscription? {
        let example =
            #"{"errorCode":null,"errorDetails":null,"errorMessage":"","status":0,"OriginalTransactionId":"6ccb40bfbd7a49dc9846aafd01890ba5","amount":1.99,"cancelled":false,"channelId":251682,"currency":"usd","expirationDate":"\/Date(1581033062000+0000)\/","isEntitled":true,"originalPurchaseDate":"/Date(1573084262000+0000)/","productId":"CAkJPWMldSfISZbs2sE3_MonthlySub","purchaseDate":"/Date(1573084394000+0000)/","purchaseStatus":"Active","quantity":1,"tax":0,"total":0.13,"transactionId":"09898ffd7d2a49bc94b1aafd0189a6fa"}"#
        func members(_ text: String) throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        }
        let whole = try members(example).merging(try members("{\(more)}")) { $1 }
        let json = try #require(JSONValue(ByteBuffer(bytes: try JSONSerialization.data(withJSONObject: whole))))
        return StoreSubscription(roku: json, asked: "asked", readAt: readAt)
    }

    @Test func rokusExampleIsRead() throws {
        let found = try #require(try subscription())
        #expect(found.store == .roku && found.kind == .subscription && found.state == .active && !found.isTest)
        #expect(found.ledgerKey == "roku:6ccb40bfbd7a49dc9846aafd01890ba5")
        #expect(found.productID == "CAkJPWMldSfISZbs2sE3_MonthlySub" && found.autoRenews == true)
        #expect(found.expiresAt == Timestamp(seconds: 1_581_033_062))
        #expect(found.firstPurchasedAt == Timestamp(seconds: 1_573_084_262))
        #expect(found.items.first?.orderID == "09898ffd7d2a49bc94b1aafd0189a6fa")
    }

    private static let past = #""expirationDate":"2020-01-01T00:00:00""#

    @Test(arguments: [
        (#""cancelled":true"#, StoreState.canceled), (#""purchaseStatus":"Pending_Inactive""#, .canceled),
        ("\(past)", .inGrace), (#"\#(past),"isEntitled":false"#, .onHold),
        (#"\#(past),"isEntitled":false,"cancelled":true"#, .expired), (#""isEntitled":false"#, .expired),
        (#""isEntitled":false,"cancelled":true"#, .expired), (#"\#(past),"cancelled":true"#, .canceled),
        (#""isEntitled":false,"purchaseStatus":"PendingActive""#, .unknown),
        (#""purchaseStatus":"Pending_Active""#, .unknown), (#""isEntitled":null"#, .unknown),
    ])
    func aStateFollows(_ more: String, _ state: StoreState) throws {
        #expect(try subscription(more)?.state == state)
    }

    @Test func graceLastsThreeDaysOrAsLongAsRokuStates() throws {
        let end = try #require(Timestamp(external: "2020-01-25T00:00:00Z"))
        let fresh = try #require(try subscription(#""expirationDate":"2020-01-25T00:00:00""#))
        #expect(fresh.graceUntil == end + .seconds(3 * 86_400) && fresh.paidUntil == end)
        let late = try #require(try subscription("\(Self.past)"))
        #expect(late.graceUntil == readAt + .seconds(7_200))
        #expect(late.ledgerStatement?.end?.isOver == false)
    }

    @Test func anUpgradeReplacesThePurchaseThatItCancels() throws {
        #expect(
            try subscription(#""purchaseType":"UPGRADE","cancelledTransactionIds":["old"]"#)?.previousKey == "old")
        #expect(
            try subscription(#""purchaseType":"DOWNGRADE","cancelledTransactionIds":["old"]"#)?.previousKey == nil)
    }

    @Test func aPurchaseWithoutAnEndIsAOneTimePurchase() throws {
        let once = try #require(try subscription(#""expirationDate":null,"isEntitled":false"#))
        #expect(once.kind == .oneTime && once.state == .active)
        #expect(try subscription(#""productId":null"#) == nil)
        #expect(try subscription(#""expirationDate":"""#)?.kind == .oneTime)
        for date in ["/Date(9999999999999999999+0000)/", "/Date(-62135596800000+0000)/", "soon"] {
            #expect(
                try subscription(#""expirationDate":"\#(date)""#) == nil,
                "an end that cannot be read is none that is known")
        }
    }

    @Test func withoutAnOriginalTheTransactionIsTheKey() throws {
        #expect(
            try subscription(#""OriginalTransactionId":null"#)?.key == "09898ffd7d2a49bc94b1aafd0189a6fa")
        #expect(try subscription(#""OriginalTransactionId":"","transactionId":"""#)?.key == "asked")
        #expect(try subscription(#""OriginalTransactionId":null,"originalTransactionId":"o""#)?.key == "o")
    }
}
