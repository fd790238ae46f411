import Foundation
import NIOHTTP1
import RelayCore
import Testing

/// Errors have billwerk's form.
@Suite struct BillingErrorTests {
    private static let id = "66aa00000000000000000001"

    @Test func alternativesAreTakenOneAtATime() async throws {
        try await BillingScene.run { billing in
            let external = try await billing.externalID()
            let subject = #""ExternalSubscriptionId":"\#(external)""#
            let google =
                #"{"Type":"GoogleIap","GoogleIapPackageName":"p","GoogleIapSubscriptionId":"s","GoogleIapToken":"t"}"#
            for (body, status) in [
                ("{}", 422), ("{\(subject)}", 422), (#"{"Customer":{}}"#, 422),
                (#"{\#(subject),"Customer":{},"CustomerId":"\#(Self.id)"}"#, 422),
                (#"{\#(subject),"Customer":{},"ContractId":"\#(Self.id)"}"#, 422),
                (#"{\#(subject),"ExternalCart":\#(google),"Customer":{}}"#, 422),
                (#"{\#(subject),"Customer":null}"#, 422), (#"{\#(subject),"Customer":"Ana"}"#, 422),
                (#"{\#(subject),"Cart":{"PlanVariantId":"x"},"Customer":{}}"#, 422),
                (#"{\#(subject),"CustomerId":"nonsense"}"#, 422), (#"{\#(subject),"CustomerId":7}"#, 422),
                (#"{\#(subject),"CustomerId":"\#(Self.id)"}"#, 404),
                (#"{\#(subject),"ContractId":"\#(Self.id)"}"#, 404),
                (#"{"ExternalSubscriptionId":"\#(Self.id)","Customer":{}}"#, 404),
                (#"{"ExternalCart":{"Type":"AppleIap","AppleIapReceipt":"x"},"Customer":{}}"#, 422),
                (#"{"ExternalCart":\#(google),"Customer":{}}"#, 422), (#"{"ExternalCart":{},"Customer":{}}"#, 422),
                (#"{\#(subject),"Customer":{"EmailAddress":"no"}}"#, 422),
                (#"{\#(subject),"Customer":{"FirstName":"a\u0000b"}}"#, 422),
                (#"{\#(subject),"Customer":{"FirstName":"\#(String(repeating: "x", count: 501))"}}"#, 422),
                (
                    #"{\#(subject),"Customer":{"CustomFields":\#(String(repeating: #"{"a":"#, count: 9))1\#(String(repeating: "}", count: 9))}}"#,
                    422
                ),
            ] {
                let answer = try await billing.post("/Orders", body)
                #expect(answer.status == status, "\(body): \(answer.text)")
                #expect(answer.json.object?.keys.map { $0 } == ["Message"], "\(answer.text)")
            }
            #expect(try await billing.get("/Orders").text == "[]")
            #expect(try await billing.get("/Customers").text == "[]")
        }
    }

    @Test func failedChecksNameTheirReason() async throws {
        try await BillingScene.run { billing in
            for (body, status, word) in [
                (
                    #"{"Type":"GoogleIap","GoogleIapPackageName":"p","GoogleIapSubscriptionId":"s","GoogleIapToken":"t"}"#,
                    422, "not configured"
                ),
                (#"{"Type":"AmazonIap","AmazonIapReceiptId":"r","AmazonIapUserId":"u"}"#, 422, "not configured"),
                (#"{"Type":"RokuPay","RokuPayTransactionId":"r"}"#, 422, "not configured"),
                (#"{"Type":"x"}"#, 422, "AppleIap"),
                ("{}", 422, "Type is required: AppleIap with AppleIapReceipt or AppleIapTransactionId"),
                (#"{"Type":1}"#, 422, "Type"),
                (#"{"Type":"AppleIap"}"#, 422, "AppleIapTransactionId or AppleIapReceipt is required"),
                (#"{"Type":"AppleIap","AppleIapReceipt":""}"#, 422, "AppleIapReceipt is required"),
                (#"{"Type":"AppleIap","AppleIapReceipt":7}"#, 422, "AppleIapReceipt"),
                (#"{"Type":"AppleIap","AppleIapTransactionId":"abc"}"#, 422, "digits"),
                (#"{"Type":"GoogleIap","GoogleIapPackageName":"p"}"#, 422, "GoogleIapToken is required"),
                ("", 400, "JSON"), ("{", 400, "JSON"), ("[]", 422, "object"), ("null", 422, "object"),
                (#"{"Type":"AppleIap"} x"#, 400, "JSON"), ("{\"Type\":\"\u{1}\"}", 400, "JSON"),
                (String(repeating: #"{"a":"#, count: 200), 400, "levels deep"),
            ] {
                let answer = try await billing.post("/ExternalSubscriptions/check", body)
                #expect(answer.status == status, "\(body): \(answer.text)")
                #expect(answer.json["Message"].string?.contains(word) == true, "\(body): \(answer.text)")
            }
        }
    }

    @Test func unknownAndRefusedRequestsHaveTheSameForm() async throws {
        try await BillingScene.run { billing in
            for (method, path, body, status) in [
                (HTTPMethod.GET, "/nothing", nil, 404), (.GET, "", nil, 404), (.PUT, "/Orders", nil, 405),
                (.GET, "/Orders/\(Self.id)/commit", nil, 405), (.GET, "/Orders/x", nil, 404),
                (.GET, "/Orders/\(Self.id)", nil, 404), (.POST, "/Orders/\(Self.id)/commit", nil, 404),
                (.GET, "/Contracts/\(Self.id)", nil, 404), (.GET, "/Customers/\(Self.id)", nil, 404),
                (.GET, "/Customers/\(Self.id)/Contracts", nil, 404), (.GET, "/Orders?take=0", nil, 422),
                (.GET, "/Orders?take=x", nil, 422), (.GET, "/Contracts?from=x", nil, 422),
                (.POST, "/webhooks", "{}", 422), (.POST, "/webhooks", #"{"Url":"ftp://x"}"#, 422),
                (.POST, "/webhooks", #"{"Url":"https://a.test/","Events":[1]}"#, 422),
                (.POST, "/webhooks", #"{"Url":"https://a.test/","Events":["a b"]}"#, 422),
                (.POST, "/webhooks", #"{"Url":"https://a.test/","Events":"CustomerCreated"}"#, 422),
                (.POST, "/webhooks", #"{"Url":"https://a.test/","Events":["OrderSucceeded","CustomerCreated"]}"#, 422),
                (.POST, "/Orders", String(repeating: " ", count: 70_000), 413),
            ] as [(HTTPMethod, String, String?, Int)] {
                let answer = try await billing.call(method, path, body)
                #expect(answer.status == status, "\(method) \(path): \(answer.status) \(answer.text)")
                #expect(answer.json["Message"].string?.isEmpty == false, "\(method) \(path): \(answer.text)")
            }
            let form = try await billing.call(
                .POST, "/Orders", "a=b", headers: ["Content-Type": "application/x-www-form-urlencoded"])
            #expect(form.status == 415 && form.json["Message"].string != nil)
        }
    }

    @Test func aCustomerIsReturnedAsSent() async throws {
        try await BillingScene.run { billing in
            let made = try await billing.post(
                "/Customers",
                #"{"firstName":"Ana \"A\"","LASTNAME":"Ö","EmailAddress":"ana@example.test","Address":{"Street":"x","no":[1, 2]},"ExternalCustomerId":"e-1","CustomFields":{"a":null},"unknown":1,"Notes":null}"#
            )
            #expect(made.status == 201, "\(made.text)")
            let id = try #require(made.json["Id"].string)
            let got = try await billing.get("/Customers/\(id)")
            #expect(got.text == made.text)
            #expect(got.json["FirstName"].string == #"Ana "A""# && got.json["LastName"].string == "Ö")
            #expect(got.json["Address"]["Street"].string == "x" && got.json["ExternalCustomerId"].string == "e-1")
            #expect(got.json.object?["unknown"] == nil && got.json.object?["Notes"] == nil)
            #expect(try await billing.get("/customers/").json.array?.map { $0["Id"].string } == [id])
            let order = try await billing.post(
                "/Orders", #"{"ExternalSubscriptionId":"\#(try await billing.externalID())","CustomerId":"\#(id)"}"#)
            #expect(order.status == 201 && order.json["CustomerId"].string == id)
        }
    }
}
