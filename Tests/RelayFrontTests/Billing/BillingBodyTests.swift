import NIOCore
import RelayCore
import Testing

@testable import RelayFront

@Suite("Requests of billing's clients")
struct BillingBodyTests {
    @Test("paths of billing are folded, their queries and all other paths are not")
    func paths() {
        #expect(FoldedPath.fold("/API/V1/Orders/66AA?From=AB") == "/api/v1/orders/66aa?From=AB")
        #expect(FoldedPath.fold("/OAuth/Token/") == "/oauth/token/")
        #expect(FoldedPath.fold("/api/v1?A") == "/api/v1?A")
        for path in [
            "/apple/payment", "/entitlements/AB", "/v2/customers/Ana/purchases", "/api/v10/X", "/api", "/", "",
        ] {
            #expect(FoldedPath.fold(path) == nil, "\(path)")
        }
        #expect(ErrorDialect(path: "/api/v1/orders") == .billwerk && ErrorDialect(path: "/oauth/token/") == .oauth)
        #expect(ErrorDialect(path: "/apple/payment") == .problem && ErrorDialect(path: "/v2/nowhere") == .fovea)
    }

    @Test("forms are decoded; a repeated name is ignored")
    func forms() throws {
        let form = try FormBody(ByteBuffer(string: "a=1+2%263&b=&c&d=x&d=y&e=%zz"))
        #expect(form["a"] == "1 2&3" && form["b"] == nil && form["c"] == nil && form["d"] == nil && form["e"] == "%zz")
        #expect(throws: Problem.self) {
            try FormBody(ByteBuffer(string: Array(repeating: "a=1", count: 33).joined(separator: "&")))
        }
    }

    @Test("names ignore case, the last of two counts, null is absent, and unknown names are skipped")
    func names() throws {
        let body = try FieldReader(
            ByteBuffer(string: #"{"TYPE":"a","type":"b","x":{"y":[1]},"Obj":{ "K" : 1 },"N":null,"L":["p"]}"#),
            FieldNames(["Type", "Obj", "N", "L"], inAnyCase: true))
        #expect(body["Type"] == .string("b") && body["Obj"] == .object(#"{ "K" : 1 }"#))
        #expect(body["N"] == .absent && body["x"] == .absent && body["L"] == .array(#"["p"]"#))
    }

    @Test("each type requires the fields of a check")
    func checks() throws {
        func check(_ json: String) throws -> CheckRequest {
            try CheckRequest(ByteBuffer(string: json), mostReceiptBytes: 1_000)
        }
        #expect(try check(#"{"type":"APPLEIAP","appleiapreceipt":"r"}"#) == .appleReceipt("r"))
        #expect(
            try check(#"{"Type":"AppleIap","AppleIapTransactionId":"12","AppleIapBundleId":"com.a"}"#)
                == .store(.init(.apple, id: "12", detail: "com.a")))
        #expect(
            try check(
                #"{"Type":"GoogleIap","GoogleIapPackageName":"p","GoogleIapSubscriptionId":"s","GoogleIapToken":"t"}"#)
                == .store(.init(.google, id: "t", detail: "p", product: "s")))
        #expect(
            try check(#"{"Type":"AmazonIap","AmazonIapReceiptId":"r","AmazonIapUserId":"u"}"#)
                == .store(.init(.amazon, id: "r", detail: "u")))
        for wrong in [
            #"{"Type":"AmazonIap","AmazonIapReceiptId":"r"}"#, #"{"Type":"GoogleIap"}"#, "{}", #"{"Type":"RokuPay"}"#,
            #"{"Type":"AppleIap","AppleIapTransactionId":"\#(String(repeating: "1", count: 65))"}"#,
        ] {
            #expect(throws: Problem.self, "\(wrong)") { try check(wrong) }
        }
    }

    @Test("a customer's details are normalized and limited")
    func details() throws {
        func details(_ json: String) throws -> String {
            try CustomerDetails(ByteBuffer(string: json), in: "Customer.").json
        }
        #expect(
            try details(#"{"lastname":"B\n","x":1,"ADDRESS":{"a":[]}}"#) == #"{"LastName":"B\n","Address":{"a":[]}}"#)
        #expect(try details("{}") == "{}")
        let deep = String(repeating: "[", count: 8) + String(repeating: "]", count: 8)
        #expect(try details(#"{"CustomFields":{"a":\#(deep.dropFirst().dropLast())}}"#).utf8.count == 37)
        for wrong in [
            #"{"LastName":1}"#, #"{"Address":"x"}"#, #"{"EmailAddress":"x"}"#, #"{"CustomFields":{"a":\#(deep)}}"#,
            #"{"Notes":"\#(String(repeating: "n", count: 501))"}"#,
            #"{"Address":{"a":"\#(String(repeating: "n", count: 17_000))"}}"#,
        ] {
            #expect(throws: Problem.self, "\(wrong.prefix(60))") { try details(wrong) }
        }
    }
}
