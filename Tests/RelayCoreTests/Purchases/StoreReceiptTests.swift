import Foundation
import RelayCore
import Testing

@Suite("A store's traits, and the purchase data of stores other than Apple's")
struct StoreReceiptTests {
    private typealias Values = [String: StoreReceipt.SentScalar]

    private static func all(_ platform: StorePlatform) -> Values {
        Dictionary(
            uniqueKeysWithValues: (platform.receipt?.fields ?? []).map { field in
                (field.name, field.isScalar ? .number("9.90") : .text("\(field.name) \"é\""))
            })
    }

    private static func read(_ json: [UInt8]) throws -> Values {
        try JSONDecoder().decode(Values.self, from: Data(json))
    }

    @Test("no two stores share a name, a path, a driver or a setting")
    func names() {
        for name in [\StoreTraits.title, \.paymentPath, \.appType, \.iapType, \.validatorType, \.accessSetting] {
            #expect(Set(StorePlatform.allCases.map { $0.traits[keyPath: name] }).count == StorePlatform.allCases.count)
        }
        for driver in PurchaseDriver.allCases where driver.connector == nil {
            #expect(driver.platform.driver == driver)
        }
        #expect(PurchaseDriver.storekit2.platform == .apple && PurchaseDriver.googleV2.platform == .google)
        #expect(PurchaseDriver.googleV2.name == "google_v2" && PurchaseDriver.storekit2.name == "storekit2")
    }

    @Test("each store's data has the fields by which the store is asked", arguments: StorePlatform.asked)
    func fields(of platform: StorePlatform) throws {
        let form = try #require(platform.receipt)
        let required = Set(form.fields.filter(\.isRequired).map(\.name))
        #expect(required.isSuperset(of: [form.query.id, form.query.detail, form.query.product].compactMap(\.self)))
        let names = form.fields.map(\.name)
        #expect(Set(names).count == names.count)
        #expect([form.order, form.product].compactMap(\.self).allSatisfy(names.contains))
        for name in required {
            var values = Self.all(platform)
            values[name] = nil
            #expect(StoreReceipt(platform, values) == nil, "without \(name)")
            values[name] = .number("1")
            #expect(StoreReceipt(platform, values) == nil, "a number as \(name)")
        }
    }

    @Test("the stored form keeps every field", arguments: StorePlatform.asked)
    func stored(of platform: StorePlatform) throws {
        let receipt = try #require(StoreReceipt(platform, Self.all(platform)))
        #expect(StoreReceipt(platform, try Self.read(receipt.json)) == receipt)
    }

    @Test("purchases that an earlier version stored are read as they were")
    func earlier() throws {
        let google = try Self.read(
            Array(#"{"productId":"month","purchaseToken":"t","packageName":"tv.app","orderId":"GPA.1"}"#.utf8))
        let bought = try #require(StoreReceipt(.google, google))
        #expect(bought.subscriptionKey == "google:t" && bought.transactionID == "GPA.1" && bought.productID == "month")
        #expect(bought.query == ExternalStoreQuery(.google, id: "t", detail: "tv.app", product: "month"))
        let amazon = try Self.read(Array(#"{"receiptId":"r","userId":"u"}"#.utf8))
        let ordered = try #require(StoreReceipt(.amazon, amazon))
        #expect(ordered.subscriptionKey == "amazon:r" && ordered.transactionID == "r" && ordered.productID == nil)
        #expect(ordered.query == ExternalStoreQuery(.amazon, id: "r", detail: "u"))
        let roku = try Self.read(
            Array(#"{"purchaseId":"p","code":"gold","amount":{"text":"$9.99"},"qty":{"number":"1"}}"#.utf8))
        let paid = try #require(StoreReceipt(.roku, roku))
        #expect(paid.subscriptionKey == "roku:p" && paid.productID == "gold")
        #expect(paid.members.map(\.value) == [.text("p"), .text("gold"), .text("$9.99"), .number("1")])
        #expect(StoreReceipt(.apple, [:]) == nil)
    }
}
