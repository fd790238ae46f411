import Foundation
import Testing

@testable import RelayClient

@Suite("The request of a purchase") struct PurchaseTests {
    private func sent(_ purchase: Purchase) throws -> String { String(decoding: try purchase.body(), as: UTF8.self) }

    @Test("a signed transaction, with everything")
    func signedTransaction() throws {
        let purchase = Purchase(
            email: "ana@example.test", offer: "S1_US", proof: .signedTransaction("a.b.c", transactionID: "2000"),
            appType: .tvos, coupon: "SPRING", applicationUsername: "u/1", cleengCustomerID: 42)
        #expect(purchase.path == "apple/payment")
        #expect(
            try sent(purchase) == """
                {"appType":"tvos","applicationUsername":"u/1","cleengCustomerId":42,"couponCode":"SPRING",\
                "customerEmail":"ana@example.test","offerId":"S1_US","receipt":{"receiptData":"a.b.c","transactionId":"2000"}}
                """)
    }

    @Test("an app receipt is sent as base64, without unset fields")
    func appReceipt() throws {
        let purchase = Purchase(
            email: "a@b.test", offer: "O", proof: .appReceipt(Data([0xfb, 0xff]), transactionID: "1"), appType: .ios)
        #expect(
            try sent(purchase) == """
                {"appType":"ios","customerEmail":"a@b.test","offerId":"O","receipt":{"receiptData":"+/8=","transactionId":"1"}}
                """)
    }

    @Test("Google Play and Amazon, without Apple's fields")
    func others() throws {
        let google = Purchase(
            email: "a@b.test", offer: "O",
            proof: .googlePlay(productID: "p", purchaseToken: "t", packageName: "n", orderID: "GPA.1"),
            cleengCustomerID: 42)
        #expect(google.path == "android/payment")
        #expect(
            try sent(google) == """
                {"cleengCustomerId":42,"customerEmail":"a@b.test","offerId":"O","receipt":{"orderId":"GPA.1",\
                "packageName":"n","productId":"p","purchaseToken":"t"}}
                """)
        let amazon = Purchase(email: "a@b.test", offer: "O", proof: .amazon(receiptID: "r", userID: "u"))
        #expect(amazon.path == "amazon/payment")
        #expect(
            try sent(amazon)
                == #"{"customerEmail":"a@b.test","offerId":"O","receipt":{"receiptId":"r","userId":"u"}}"#)
    }
}
