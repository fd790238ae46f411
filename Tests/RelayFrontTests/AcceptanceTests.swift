import Foundation
import RelayCore
import Testing

@testable import HTTPServer
@testable import Relay

@Suite("The stored purchase, for every store")
struct AcceptanceTests {
    private static let key = APIKey(
        id: "0123456789abcdef", publisher: "main", role: .app, app: "com.example.app", name: "app", digest: [],
        createdAt: .earliest)

    private static func google(package: BundleID = "com.example.app") -> StoreReceipt {
        .sample(
            .google,
            [
                "productId": "gold", "purchaseToken": "token", "packageName": package.text, "orderId": "GPA.1",
            ])
    }

    private static let amazon = StoreReceipt.sample(.amazon, ["receiptId": "receipt", "userId": "user"])
    private static let apple = PurchaseProof.apple(.init(receiptData: "YWJj", transactionID: "42"))
    private static let found = ExternalSubscription(
        key: "google:token", environment: "Sandbox",
        statement: LedgerStatement(periods: [
            LedgerPeriod(
                id: "1", productID: "silver", purchasedAt: Timestamp(seconds: 1_700_000_000), expiresAt: nil,
                statedAt: Timestamp(seconds: 1_700_000_000))
        ]),
        isSubscription: true, accountToken: "token of the account")

    private func request(
        _ proof: PurchaseProof, number: Int64? = nil, coupon: CouponID? = nil
    ) throws -> PurchaseRequest {
        PurchaseRequest(
            email: try #require(CustomerEmail("Ana@example.test")), offerID: "S1_US", proof: proof, couponCode: coupon,
            applicationUsername: "ana", cleengCustomer: number)
    }

    private func acceptance(
        _ proof: PurchaseProof, _ receipt: ReadReceipt, driver: PurchaseDriver? = nil
    ) throws -> Acceptance {
        Acceptance(
            try request(proof, coupon: "C"), receipt, driver: driver ?? proof.driver, from: .init(key: Self.key),
            now: Timestamp(seconds: 1_790_000_000))
    }

    /// Digest by the rule that has identified purchases in the database from the beginning.
    private func digest(_ parts: String...) -> [UInt8] {
        var data = Data()
        for part in parts {
            withUnsafeBytes(of: UInt64(part.utf8.count).bigEndian) { data.append(contentsOf: $0) }
            data.append(contentsOf: part.utf8)
        }
        return data.withUnsafeBytes { PurchaseDigest.of($0) }
    }

    @Test("a repeat is found by its receipt, at other stores by the subscription, from a validator by the transaction")
    func keys() throws {
        var apple = ReadReceipt("YWJj", transactionID: "42")
        #expect(
            try acceptance(Self.apple, apple).purchaseKey
                == digest("main", "com.example.app", "ana@example.test", "S1_US", "abc"))
        for answer in [nil, ExternalStoreAnswer.found([Self.found])] {
            let receipt = ReadReceipt(Self.google(), answer, of: Self.key)
            #expect(
                try acceptance(.store(Self.google()), receipt).purchaseKey
                    == digest("main", "com.example.app", "ana@example.test", "S1_US", "google:token"))
        }
        apple.narrow(
            to: SubscriptionName(publisher: "main", environment: "Sandbox", originalTransactionID: "41"),
            CustomerPurchase(
                platform: .apple, productID: "gold", purchaseID: "41", transactionID: "43", isSandbox: true,
                isExpired: false))
        let validated = try acceptance(Self.apple, apple)
        #expect(
            validated.purchaseKey
                == digest("validate", "main", "com.example.app", "ana@example.test", "S1_US", "Sandbox", "41", "43"))
        #expect(validated.transactionID == "43" && validated.subscriptionKey == "41" && validated.productID == "gold")
    }

    @Test("the store's statement decides whether a purchase is genuine, and what is stored")
    func answers() throws {
        func read(_ answer: ExternalStoreAnswer?, package: BundleID = "com.example.app") throws -> Acceptance {
            let sent = Self.google(package: package)
            return try acceptance(.store(sent), ReadReceipt(sent, answer, of: Self.key))
        }
        let genuine = try read(.found([Self.found]))
        #expect(genuine.verification == .genuine && genuine.environment == "Sandbox" && genuine.productID == "silver")
        #expect(genuine.transactionID == "GPA.1" && genuine.appType == "android" && genuine.periods.count == 1)
        let elsewhere = try read(.found([Self.found]), package: "com.example.other")
        #expect(elsewhere.verification.code == "bundle" && elsewhere.environment == "Sandbox")
        for answer in [ExternalStoreAnswer.no("x"), .ended("x"), .unknown, .found([])] {
            let refused = try read(answer)
            #expect(refused.verification.code == "not_a_purchase" && refused.periods.isEmpty, "\(answer)")
        }
        for answer in [nil, ExternalStoreAnswer.notConfigured, .misconfigured("x"), .tryAgain(after: nil)] {
            let unasked = try read(answer)
            #expect(unasked.verification == .notChecked && unasked.environment == "Production")
            #expect(unasked.productID == "gold" && unasked.bundleID == "com.example.app")
        }
    }

    @Test("an untrusted purchase has its own environment; one of Apple's also the app's transaction id")
    func distrust() throws {
        var store = ReadReceipt(Self.google(), .unknown, of: Self.key)
        store.distrust()
        #expect(store.environment == .unknown && store.productID == "gold" && store.bundleID == "com.example.app")
        var apple = ReadReceipt("YWJj", transactionID: "42")
        (apple.subscriptionKey, apple.environment, apple.productID, apple.bundleID) = ("41", "Sandbox", "gold", "a.b")
        apple.distrust()
        #expect(apple.subscriptionKey == "42" && apple.environment == .unknown)
        #expect(apple.productID == nil && apple.bundleID == nil && apple.purchase == nil)
    }

    @Test("the account's token counts only in a genuine purchase")
    func accountToken() {
        let genuine = ReadReceipt(Self.google(), .found([Self.found]), of: Self.key)
        #expect(genuine.accountToken == "token of the account")
        let sent = Self.google(package: "com.example.other")
        #expect(ReadReceipt(sent, .found([Self.found]), of: Self.key).accountToken == nil)
    }

    @Test("the period of a purchase that is not genuine is stored only for other stores")
    func periods() throws {
        var apple = ReadReceipt("YWJj", transactionID: "42")
        apple.periods = Self.found.statement.periods
        apple.verification = .notGenuine(code: "bundle", detail: "x")
        #expect(try acceptance(Self.apple, apple).periods.isEmpty)
        let sent = Self.google(package: "com.example.other")
        let store = ReadReceipt(sent, .found([Self.found]), of: Self.key)
        #expect(try acceptance(.store(sent), store).periods.count == 1)
    }

    @Test("a connector gets a purchase with its customer's number, and no coupon")
    func drivers() throws {
        let google = ReadReceipt(Self.google(), nil, of: Self.key)
        func driver(_ policy: DriverPolicy, _ proof: PurchaseProof, _ receipt: ReadReceipt, _ number: Int64?) throws
            -> PurchaseDriver
        {
            let (driver, warnings) = try policy.choose(for: try request(proof, number: number, coupon: "C"), receipt)
            #expect(warnings.map(\.field) == (driver.connector == nil ? [] : ["couponCode"]))
            #expect(try acceptance(proof, receipt, driver: driver).couponCode == (driver.connector == nil ? "C" : nil))
            return driver
        }
        for (policy, numbered) in [
            (DriverPolicy.auto, PurchaseDriver.googleV2), (.storekit2, .googleV2), (.receipt, .google),
        ] {
            #expect(try driver(policy, .store(Self.google()), google, 7) == numbered)
            #expect(try driver(policy, .store(Self.google()), google, nil) == .google)
            #expect(try driver(policy, .store(Self.amazon), ReadReceipt(Self.amazon, nil, of: Self.key), 7) == .amazon)
        }
        var once = Self.found
        once.isSubscription = false
        let bought = ReadReceipt(Self.google(), .found([once]), of: Self.key)
        #expect(try driver(.auto, .store(Self.google()), bought, 7) == .google)
        let apple = ReadReceipt("YWJj", transactionID: "42")
        #expect(try driver(.auto, Self.apple, apple, 7) == .receipt)
        #expect(try driver(.receipt, Self.apple, apple, 7) == .receipt)
        #expect(try driver(.storekit2, Self.apple, apple, 7) == .storekit2)
        #expect(throws: Problem(.invalidFields, "")) { try driver(.storekit2, Self.apple, apple, nil) }
    }
}

extension AcceptanceTests {
    @Test("what the store links to a purchase is taken with it")
    func taken() {
        var found = Self.found
        found.statement.movesFrom = ["google:old"]
        let receipt = ReadReceipt(Self.google(), .found([found]), of: Self.key)
        #expect(
            receipt.taken(of: "main")
                == [SubscriptionName(publisher: "main", environment: "Sandbox", originalTransactionID: "google:old")])
        #expect(ReadReceipt(Self.google(), nil, of: Self.key).taken(of: "main").isEmpty)
    }
}
