import NIOCore
import OutboundHTTP
import Testing

import struct RelayCore.Identifier

@testable import Cleeng

struct EventTests {
    private func granted(_ data: String) -> CleengEvent? {
        CleengEvent(ByteBuffer(string: #"{"topic":"inappPurchaseValidationSucceeded","data":{\#(data)}}"#))
    }

    @Test(
        arguments: [
            ("4102444800000", "2100-01-01T00:00:00.000Z"), ("4102444800", "2100-01-01T00:00:00.000Z"),
            (#""4102444800000""#, "2100-01-01T00:00:00.000Z"),
            (#""2030-01-01T00:00:00+01:00""#, "2029-12-31T23:00:00.000Z"),
            ("253402300799000", "9999-12-31T23:59:59.000Z"), ("253402300800000", nil), ("9223372036854775807", nil),
            ("-9223372036854775808", nil), (#""9223372036854775807""#, nil), ("1e300", nil), ("0", nil), ("null", nil),
            (#""soon""#, nil), ("{}", nil),
        ] as [(String, String?)])
    func anEndIsADateBetween1970And9999OrNone(json: String, date: String?) throws {
        for name in ["expirationDate", "expiresAt"] {
            let event = try #require(granted("\"\(name)\":\(json)"))
            #expect(event.expiresAt?.rfc3339 == date)
            #expect(event.verdict == .granted)
            #expect(event.evidence.contains("expiresAt") == (date != nil))
        }
    }

    @Test(arguments: [
        ("SubscriptionTransferred", true), ("SubscriptionCreated", false), ("SubscriptionRevived", false),
    ])
    func aTransferIsToldApart(result: String, isTransfer: Bool) throws {
        #expect(try #require(granted(#""result":"\#(result)""#)).isTransfer == isTransfer)
        #expect(try #require(granted(#""result":"\#(result)","active":false"#)).isTransfer == false)
    }

    /// An event that is no statement about access leaves the purchase to the entitlement reads.
    @Test(
        arguments: [
            (#""accessGranted":true"#, .granted), (#""accessGranted":"true""#, .nothing),
            (#""synchronizationId":"x","accessGranted":false,"result":"NO""#, .refused(reason: "no")),
            (#""synchronizationId":"x","accessGranted":false,"errorCode":7"#, .refused(reason: "7")),
            (#""synchronizationId":"x","accessGranted":false,"result":{"code":"NO"}"#, .nothing),
            (#""synchronizationId":"x","accessGranted":false,"result":7"#, .nothing),
            (#""synchronizationId":"x","accessGranted":"false","result":"NO""#, .nothing),
            (#""synchronizationId":"x","accessGranted":0,"result":"NO""#, .nothing),
            (#""synchronizationId":null,"accessGranted":false,"result":"NO""#, .nothing),
            (#""synchronizationId":["x"],"accessGranted":false,"result":"NO""#, .nothing),
            (#""accessGranted":false,"result":"NO""#, .nothing),
        ] as [(String, CleengEvent.Verdict)])
    func aSynchronizationThatCannotBeReadRefusesNothing(data: String, verdict: CleengEvent.Verdict) throws {
        let body = ByteBuffer(string: #"{"topic":"inappPurchaseSyncResult","data":{\#(data)}}"#)
        #expect(try #require(CleengEvent(body)).verdict == verdict)
    }

    @Test(
        arguments: [
            (#""active":true"#, .granted), (#""active":null"#, .granted), (#""active":false"#, .nothing),
            (#""active":"false""#, .nothing), (#""active":0"#, .nothing), (#""active":{}"#, .nothing),
        ] as [(String, CleengEvent.Verdict)])
    func aPurchaseThatMayNotBeActiveIsNotGranted(data: String, verdict: CleengEvent.Verdict) throws {
        #expect(try #require(granted(data)).verdict == verdict)
    }

    /// An event of a customer whom Cleeng does not know is dropped, so the log must say it.
    @Test(
        arguments: [
            (200, #"{"success":true,"data":{"email":"a@b.test"}}"#, .email("a@b.test")),
            (200, #"{"data":{"email":7}}"#, .tryAgain(.unreadable)),
            (404, #"{"success":false,"data":null,"message":"Customer not found"}"#, .unknown),
            (404, "<html>", .misconfigured), (404, #"{"message":"Not Found"}"#, .misconfigured),
            (400, #"{"success":false,"data":null,"message":"Invalid customerId format"}"#, .unknown),
            (400, "<html>", .tryAgain(.unexpectedStatus)), (401, "{}", .misconfigured),
            (503, "{}", .tryAgain(.upstreamError)),
        ] as [(Int, String, CustomerAnswer)])
    func aCustomerIsUnknownOnlyByCleengsStatement(status: Int, body: String, answer: CustomerAnswer) {
        let reply = HTTPReply(status: status, body: .success(ByteBuffer(string: body)))
        #expect(CustomerAnswer(reply) == answer)
    }

    @Test func itsTextsAreBoundedWithoutControlCharacters() throws {
        let long = String(repeating: "x", count: 5_000)
        for word in [#"A\u0000B\u202e"#, long, "e" + String(repeating: #"\u0301"#, count: 5_000)] {
            let failed = try #require(
                CleengEvent(
                    ByteBuffer(string: #"{"topic":"inappPurchaseValidationFailed","data":{"result":"\#(word)"}}"#)))
            guard case .refused(let reason) = failed.verdict else {
                Issue.record("no refusal")
                continue
            }
            #expect(reason.unicodeScalars.count <= 200 && !reason.utf8.contains(0))
            #expect(failed.result.map { $0.unicodeScalars.count <= 200 } == true)
        }
    }
}
