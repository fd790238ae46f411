import Foundation
import RelayCore
import Testing

@testable import AppleStore

@Suite("Advanced Commerce: the items of a transaction are products of their own")
struct AdvancedCommerceTests {
    private func payload(_ info: String) throws -> TransactionPayload {
        let text = """
            {"transactionId":"2","originalTransactionId":"1","webOrderLineItemId":"9","bundleId":"com.example.app",
            "productId":"generic","purchaseDate":1795000000000,"expiresDate":1797592000000,
            "type":"Auto-Renewable Subscription","signedDate":1795000001000,"environment":"Production",
            "advancedCommerceInfo":\(info)}
            """
        return try JSONDecoder().decode(TransactionPayload.self, from: Data(text.utf8))
    }

    @Test("each has its SKU, and a refund of one is not one of the others")
    func items() throws {
        let bought = try payload(
            #"{"items":[{"SKU":"sports","price":1},{"SKU":"kids","revocationDate":1795000000500}],"period":"P1M"}"#)
        let periods = bought.ledgerPeriods()
        #expect(periods.map(\.id) == ["9:sports", "9:kids"] && periods.map(\.productID) == ["sports", "kids"])
        #expect(periods.map { $0.revocation?.kind } == [nil, .refunded])
        #expect(periods.allSatisfy { $0.expiresAt == Timestamp(microseconds: 1_797_592_000_000_000) })
        #expect(PurchaseEntry(bought).productId == "sports")
        // A statement that lists all items counts from its own time.
        let stated = Timestamp(microseconds: 1_795_000_009_000_000)
        #expect(bought.ledgerPeriods(statedAt: stated).allSatisfy { $0.statedAt == stated })
    }

    @Test("without items the product is the transaction's", arguments: ["{}", #"{"items":[]}"#, "null"])
    func none(info: String) throws {
        let periods = try payload(info).ledgerPeriods()
        #expect(periods.map(\.productID) == ["generic"] && periods.map(\.id) == ["9"])
    }

    @Test(
        "with an item that cannot be read it states nothing: the item would end",
        arguments: [#"{"items":[{"SKU":"sports"},{"price":1}]}"#, #"{"items":["sports"]}"#, #""text""#, "[]"])
    func unreadable(info: String) throws {
        let bought = try payload(info)
        #expect(!bought.isReadable && bought.ledgerPeriods().isEmpty)
    }

    @Test("renewal information names the next product only if it is one")
    func renewal() throws {
        func next(_ skus: String) throws -> ProductID? {
            let text = """
                {"originalTransactionId":"1","autoRenewProductId":"generic","autoRenewStatus":1,"signedDate":1795000001000,
                "environment":"Production","advancedCommerceInfo":{"items":[\(skus)]}}
                """
            let renewal = try JSONDecoder().decode(RenewalPayload.self, from: Data(text.utf8)).ledgerRenewal
            return try #require(renewal).productID
        }
        #expect(try next(#"{"SKU":"sports"}"#) == "sports")
        #expect(try next(#"{"SKU":"sports"},{"SKU":"kids"}"#) == nil)
        #expect(try next("") == "generic")
    }
}
