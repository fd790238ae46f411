import NIOCore
import OutboundHTTP
import RelayCore
import Testing

@testable import GooglePlay

@Suite("A page of voided purchases")
struct VoidedPurchasesTests {
    private func page(_ json: String) throws -> VoidedPurchases {
        VoidedPurchases(try #require(JSONValue(ByteBuffer(string: json))))
    }

    @Test("has each purchase with its time, and the next page's token")
    func items() throws {
        let page = try page(
            """
            {"voidedPurchases":[
                {"purchaseToken":"t1","orderId":"GPA.1","voidedTimeMillis":"1767323045000","voidedReason":1},
                {"purchaseToken":"t2","voidedTimeMillis":1767323046000},
                {"orderId":"GPA.3","voidedTimeMillis":"1767323045000"}, {"purchaseToken":"t4"}, 7],
             "tokenPagination":{"nextPageToken":"n"}}
            """)
        #expect(page.items.map(\.purchaseToken) == ["t1", "t2"])
        #expect(page.items.map(\.orderID) == ["GPA.1", ""])
        #expect(page.items.map(\.reason) == ["1", nil])
        #expect(page.items[0].voidedAt == Timestamp(seconds: 1_767_323_045))
        #expect(page.next == "n")
    }

    @Test("may be the last, and empty", arguments: ["{}", #"{"voidedPurchases":null}"#, #"{"tokenPagination":{}}"#])
    func empty(json: String) throws {
        let page = try page(json)
        #expect(page.items.isEmpty && page.next == nil)
    }
}
