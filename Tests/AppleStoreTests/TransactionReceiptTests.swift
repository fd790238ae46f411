import RelayCore
import Testing

@testable import AppleStore

@Suite("Transaction receipts of iOS 6 are read")
struct TransactionReceiptTests {
    static let purchaseInfo = """
        {
        \t"original-purchase-date-pst" = "2014-04-08 08:53:18 America/Los_Angeles";
        \t"purchase-date-ms" = "1403209091921";
        \t"original-transaction-id" = "1000000100000001";
        \t"expires-date" = "1403209391921";
        \t"transaction-id" = "1000000100000002";
        \t"original-purchase-date" = "2014-04-08 15:53:18 Etc/GMT";
        \t"web-order-line-item-id" = "1000000020000003";
        \tbvrs = 1.0;
        \t"is-trial-period" = "false";
        \t"expires-date-formatted" = "2014-06-19 20:23:11 Etc/GMT";
        \t"product-id" = "com.example.\\"month\\"";
        \t"bid" = "com.example.app";
        \t"quantity" = "1";
        }
        """

    static func receipt(_ information: String = purchaseInfo, rest: String = #""environment" = "Sandbox";"#) -> String {
        base64(
            Array(
                """
                {
                \t"signature" = "\(base64([2, 7, 7]))";
                \t"purchase-info" = "\(base64(Array(information.utf8)))";
                \t\(rest)
                \t"signing-status" = "0";
                }
                """.utf8))
    }

    @Test("every field is read")
    func fields() throws {
        let text = Self.receipt()
        #expect(text.hasPrefix("ewo"))
        let read = try PurchaseReader.read(text, transactionId: "5")
        #expect(read.document.isTransactionReceipt)
        #expect(read.environment == AppleEnvironment(raw: "Sandbox"))
        #expect(read.bundleId == "com.example.app")
        #expect(read.issuedDate == nil)
        #expect(read.transactionId == "1000000100000002")
        #expect(read.originalTransactionId == "1000000100000001")
        #expect(read.productId == #"com.example."month""#)
        #expect(read.entry.purchaseDate?.millisecondsSince1970 == 1_403_209_091_921)
        #expect(read.entry.originalPurchaseDate == date("2014-04-08T15:53:18Z"))
        #expect(read.entry.expiresDate?.millisecondsSince1970 == 1_403_209_391_921)
        #expect(read.entry.cancellationDate == nil)
        #expect(!read.entry.isCancelled)
        #expect(read.entry.isTrialPeriod == false)
        #expect(read.entry.webOrderLineItemId == "1000000020000003")
        #expect(read.subscriptions == [read.entry])
    }

    @Test(
        "the environment is named, or told by the pod",
        arguments: [
            (#""pod" = "100";"#, AppleEnvironment.Kind.sandbox), (#""pod" = "17";"#, .production), ("", .unknown),
            (#""environment" = "Production";"#, .production), (#""environment" = "Sandbox"; "pod" = "17";"#, .sandbox),
        ])
    func environment(rest: String, kind: AppleEnvironment.Kind) throws {
        #expect(try PurchaseReader.read(Self.receipt(rest: rest), transactionId: "5").environment.kind == kind)
    }

    @Test(
        "other shapes are refused",
        arguments: [
            "{", "{}", "{ a = b; }", #"{ "purchase-info" = "!"; }"#, #"{ "purchase-info" = "e30"; } x"#,
            #"{ "purchase-info" = { a = b; }; }"#, #"{ "purchase-info" = (a); }"#, #"{ "purchase-info" = "e30" }"#,
            #"{ "purchase-info" = "\U0041"; }"#, #"{ "purchase-info" = "e30="; "purchase-info" = "e30="; }"#,
            #"{ "purchase-info" = "e30"#, #"{ "purchase-info" = "e30\"#,
        ])
    func refused(text: String) {
        #expect(
            readError { _ = try PurchaseReader.read(base64(Array(text.utf8)), transactionId: "5") }
                == .malformedTransactionReceipt)
    }

    @Test("an entry without any id is no purchase")
    func withoutIds() {
        #expect(
            readError { _ = try PurchaseReader.read(Self.receipt("{ bid = a; }"), transactionId: "5") }
                == .noInAppPurchase)
    }

    @Test("cut anywhere, it is refused")
    func truncated() throws {
        let bytes = try #require(ReceiptData.decode(Self.receipt()))
        for length in 1..<bytes.count {
            #expect(readError { _ = try PurchaseDocument(.binary(Array(bytes[..<length]))) } != nil)
        }
    }

    @Test("too many entries or bytes are refused")
    func bounded() {
        let many = "{" + (0..<129).map { "k\($0) = v;" }.joined() + "}"
        #expect(PropertyListDictionary(Array(many.utf8)[...]) == nil)
        let large = "{ a = \"" + String(repeating: "x", count: 65 << 10) + "\"; }"
        #expect(readError { _ = try PurchaseDocument(.binary(Array(large.utf8))) } == .tooLarge)
    }
}
