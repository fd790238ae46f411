import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import RelayCore
import Testing

@testable import Billing
@testable import HTTPServer
@testable import Relay

@Suite("Requests of billing's clients")
struct BillingBodyTests {
    private struct Collector: ResponseBodyWriter {
        let bytes = NIOLockedValueBox(ByteBuffer())

        func write(_ buffer: ByteBuffer) async throws { bytes.withLockedValue { _ = $0.writeImmutableBuffer(buffer) } }
        consuming func finish(_ trailers: HTTPFields?) async throws {}
    }

    private func text(_ response: Response) async throws -> String {
        let collector = Collector()
        try await response.body.write(collector)
        return collector.bytes.withLockedValue { String(buffer: $0) }
    }

    @Test("each path's errors have its clients' form")
    func errors() async throws {
        func answer(_ path: String, _ code: ProblemCode) -> Response {
            Problem(code, "why").response(at: path, FrontFeature.billing.dialects)
        }
        #expect(try await text(answer("/api/v1/orders", .alreadyOrdered)) == #"{"Message":"why"}"#)
        for (code, error) in [
            (ProblemCode.unsupportedGrant, "unsupported_grant_type"), (.unknownKey, "invalid_client"),
            (.databaseUnavailable, "temporarily_unavailable"), (.internalError, "server_error"),
            (.invalidFields, "invalid_request"),
        ] {
            let answer = answer("/oauth/token/", code)
            #expect(try await text(answer) == #"{"error":"\#(error)","error_description":"why"}"#)
        }
        #expect(answer("/apple/payment", .notFound).headers[.contentType] == Problem.contentType)
        let folded = FoldedPaths(FrontFeature.billing.foldedPaths)
        #expect(folded.fold("/API/V1/Orders/66AA?From=AB") == "/api/v1/orders/66aa?From=AB")
        #expect(folded.fold("/OAuth/Token/") == "/oauth/token/" && folded.fold("/v2/Customers") == nil)
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
