import RelayCore
import TestSupport
import Testing

@testable import AppleStore

@Suite("Of several purchases the right one counts")
struct PurchaseChoiceTests {
    /// Two subscriptions with renewals, a plan change, a refunded one, a consumable.
    static let purchases = [
        WrittenPurchase(
            product: "month", id: "101", original: "100", purchased: "2026-01-01T00:00:00Z",
            expires: "2026-02-01T00:00:00Z"),
        WrittenPurchase(
            product: "year", id: "102", original: "100", purchased: "2026-02-01T00:00:00Z",
            expires: "2027-02-01T00:00:00Z"),
        WrittenPurchase(
            product: "news", id: "200", original: "200", purchased: "2026-05-01T00:00:00Z",
            expires: "2026-06-01T00:00:00Z"),
        WrittenPurchase(
            product: "news", id: "201", original: "200", purchased: "2026-06-01T00:00:00Z",
            expires: "2026-07-01T00:00:00Z"),
        WrittenPurchase(
            product: "refunded", id: "300", original: "300", purchased: "2026-07-01T00:00:00Z",
            expires: "2029-07-01T00:00:00Z", cancelled: "2026-07-02T00:00:00Z"),
        WrittenPurchase(
            product: "coins", id: "400", original: "400", purchased: "2026-08-01T00:00:00Z", type: 1),
    ]

    static func read(_ purchases: [WrittenPurchase], transactionId: String) throws -> ReadPurchase {
        var builder = ReceiptBuilder()
        for purchase in purchases { builder.add(purchase) }
        return try PurchaseReader.read(base64(builder.bytes), transactionId: TransactionID(transactionId))
    }

    @Test(
        "the transaction's subscription counts, with its longest-running entry",
        arguments: [
            ("101", "100", "102"), ("102", "100", "102"), ("100", "100", "102"), ("200", "200", "201"),
            ("201", "200", "201"), ("300", "300", "300"), ("400", "400", "400"),
        ])
    func holder(transactionId: String, original: String, newest: String) throws {
        let read = try Self.read(Self.purchases, transactionId: transactionId)
        #expect(read.originalTransactionId?.text == original)
        #expect(read.transactionId?.text == newest)
    }

    @Test("a transaction id precedes an original transaction id")
    func transactionBeforeOriginal() throws {
        let purchases = [
            WrittenPurchase(
                id: "500", original: "7", purchased: "2026-01-01T00:00:00Z", expires: "2026-02-01T00:00:00Z"),
            WrittenPurchase(
                id: "8", original: "500", purchased: "2026-03-01T00:00:00Z", expires: "2027-02-01T00:00:00Z"),
        ]
        #expect(try Self.read(purchases, transactionId: "500").originalTransactionId == "7")
    }

    @Test(
        "without the transaction, the uncancelled subscription that runs longest counts", arguments: ["", "0", "999"])
    func longest(transactionId: String) throws {
        let read = try Self.read(Self.purchases, transactionId: transactionId)
        #expect(read.originalTransactionId == "100")
        #expect(read.transactionId == "102")
        #expect(read.productId == "year")
        #expect(read.entry.expiresDate == date("2027-02-01T00:00:00Z"))
        #expect(read.entry.kind == .autoRenewableSubscription)
        #expect(read.bundleId == "com.example.app")
        #expect(read.issuedDate == date("2026-01-02T03:04:05Z"))
    }

    @Test("without a running purchase the newest one counts, cancelled or not")
    func noneLive() throws {
        let cancelledOnly = try Self.read(Array(Self.purchases[4...4]), transactionId: "1")
        #expect(cancelledOnly.originalTransactionId == "300")
        #expect(cancelledOnly.entry.cancellationDate == date("2026-07-02T00:00:00Z"))
        #expect(cancelledOnly.entry.isCancelled)
        let withCoins = try Self.read(Array(Self.purchases[4...]), transactionId: "1")
        #expect(withCoins.originalTransactionId == "400")
        #expect(withCoins.entry.expiresDate == nil)
        #expect(withCoins.entry.kind == .consumable)
    }

    @Test("an upgrade's replaced entry does not count, even if it ends later")
    func upgrade() throws {
        let purchases = [
            WrittenPurchase(
                product: "year", id: "1", original: "1", purchased: "2026-01-01T00:00:00Z",
                expires: "2027-01-01T00:00:00Z", cancelled: "2026-02-01T00:00:00Z"),
            WrittenPurchase(
                product: "premium-month", id: "2", original: "1", purchased: "2026-02-01T00:00:00Z",
                expires: "2026-03-01T00:00:00Z"),
        ]
        #expect(try Self.read(purchases, transactionId: "1").productId == "premium-month")
    }

    @Test("every subscription is reported once, the cancelled one too, the consumable not")
    func subscriptions() throws {
        let read = try Self.read(Self.purchases, transactionId: "400")
        #expect(read.subscriptions.map(\.originalTransactionId) == ["100", "200", "300"])
        #expect(read.subscriptions.map(\.transactionId) == ["102", "201", "300"])
    }

    @Test("the order of the entries does not matter, even between equals")
    func shuffled() throws {
        var generator = SeededGenerator(seed: 20_261_120)
        var purchases = Self.purchases
        purchases.append(purchases[1])
        var twin = purchases[1]
        twin.replace(1703, BERWriter.utf8("1020"))
        purchases.append(twin)
        for transactionId in ["101", "999", "300"] {
            let expected = try Self.read(purchases, transactionId: transactionId)
            for _ in 0..<20 {
                purchases.shuffle(using: &generator)
                for index in purchases.indices { purchases[index].attributes.shuffle(using: &generator) }
                let read = try Self.read(purchases, transactionId: transactionId)
                #expect(read.entry == expected.entry)
                #expect(read.subscriptions == expected.subscriptions)
            }
        }
    }

    @Test("187 renewals are one subscription, with the last one's data")
    func manyRenewals() throws {
        let renewals = (0..<187).map { month in
            WrittenPurchase(
                id: "\(1000 + month)", original: "1000", purchased: Self.month(month), expires: Self.month(month + 1))
        }
        let read = try Self.read(renewals.reversed(), transactionId: "1000")
        #expect(read.transactionId == "1186")
        #expect(read.subscriptions.count == 1)
        let signed = try #require(read.document.signedReceipt)
        #expect(signed.receipt.inAppPurchases.count == 187)
    }

    private static func month(_ index: Int) -> String {
        let month = index % 12 + 1
        return "\(2010 + index / 12)-\(month < 10 ? "0" : "")\(month)-01T00:00:00Z"
    }

    @Test("Xcode's receipt has a purchase, but no key")
    func xcode() throws {
        var builder = ReceiptBuilder(.indefinite, environment: "Xcode")
        builder.add(
            WrittenPurchase(
                id: "0", original: nil, purchased: "2020-07-22T18:33:14+0100", expires: "2021-07-22T18:33:14+0100",
                type: nil))
        let read = try PurchaseReader.read(base64(builder.bytes), transactionId: "0")
        #expect(read.environment.kind == .xcode)
        #expect(read.originalTransactionId == nil)
        #expect(read.transactionId == nil)
        #expect(read.productId == "com.example.month")
        #expect(read.entry.expiresDate == date("2021-07-22T17:33:14Z"))
        #expect(read.entry.kind == .autoRenewableSubscription)
        #expect(read.subscriptions.count == 1)
    }
}
