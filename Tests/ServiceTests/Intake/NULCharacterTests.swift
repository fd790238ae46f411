import Foundation
import Testing

/// PostgreSQL's text cannot hold a NUL. Wherever a request contains one, the answer is not an internal error.
@Suite struct NULCharacterTests {
    @Test func queriesAndPathsWithNULsCauseNoInternalError() async throws {
        try await Setup.run { setup in
            let publisher = try await Relay.makeKey("publisher", setup.database)
            let front = [
                "/entitlements?customerEmail=a%00b@example.test&offerId=S1_US", "/entitlements?offerId=%00",
                "/entitlements?customerEmail=ana@example.test&offerId=S1%00", "/entitlements/%00",
                "/entitlements/a%00b",
            ]
            let billing = [
                "/v2/customers/a%00b/purchases", "/v2/customers/?applicationUsername=a%00b,c",
                "/v2/customers/?limit=%00",
                "/api/v1/Orders?from=%00&take=%00", "/api/v1/Orders/%00", "/api/v1/Contracts/a%00b",
                "/api/v1/Customers/%00",
                "/api/v1/Customers/%00/Contracts", "/v2/customers/x/purchases?appName=main%00&apiKey=%00",
            ]
            let ops = [
                "/ops/validations?status=%00", "/ops/validations?customerEmail=a%00@b", "/ops/validations?offerId=%00",
                "/ops/validations?cursor=%00", "/ops/validations/%00", "/ops/subscriptions?originalTransactionId=%00",
                "/ops/subscriptions?customerEmail=a%00@b.c", "/ops/subscriptions?cursor=006d",
                "/ops/transfers?cursor=%00",
                "/ops/notifications?status=%00", "/ops/notifications/%00", "/ops/webhooks?endpoint=%00",
                "/ops/webhooks?applicationUsername=%00", "/ops/webhooks?publisher=%00", "/ops/offers?publisher=%00",
                "/ops/offers?offerId=%00", "/ops/offers?cursor=%00", "/console/audit?actor=%00&target=%00",
            ]
            for (base, key, paths) in [
                (setup.relay.url, setup.relay.keys.app, front), (setup.relay.url, publisher, billing),
                (setup.relay.opsURL, setup.relay.keys.operator, ops),
            ] {
                let named = Data("main:\(key)".utf8).base64EncodedString()
                for path in paths {
                    for credentials in ["Bearer \(key)", "Basic \(named)"] {
                        let answer = try await HTTP.get(base + path, headers: ["Authorization": credentials])
                        #expect(answer.status < 500, "\(path): \(answer.status) \(answer.text)")
                    }
                }
            }
        }
    }

    @Test func bodiesWithNULsCauseNoInternalError() async throws {
        try await Setup.run { setup in
            let publisher = try await Relay.makeKey("publisher", setup.database)
            let nul = #"\u0000"#
            let purchase = try #require(String(data: TestPurchase(email: "ana@example.test").body, encoding: .utf8))
            #expect(!purchase.contains(nul))
            let bodies = [
                (
                    setup.relay.url + "/apple/payment", setup.relay.keys.app,
                    purchase.replacing("ana@", with: "a\(nul)na@")
                ),
                (
                    setup.relay.url + "/v1/validate", setup.relay.keys.app,
                    #"{"id":"\#(nul)","transaction":{"type":"ios-appstore","id":"\#(nul)","appStoreReceipt":"\#(nul)"}}"#
                ),
                (
                    setup.relay.url + "/api/v1/Orders", publisher,
                    #"{"ExternalSubscriptionId":"\#(nul)","CustomerId":"\#(nul)"}"#
                ),
                (setup.relay.url + "/api/v1/Customers", publisher, #"{"ExternalCustomerId":"\#(nul)"}"#),
                (
                    setup.relay.url + "/api/v1/Customers", publisher,
                    #"{"ExternalCustomerId":"1","CustomFields":{"\#(nul)":"\#(nul)"},"Address":{"Street":"\#(nul)"}}"#
                ),
                (
                    setup.relay.url + "/api/v1/ExternalSubscriptions/check", publisher,
                    #"{"Type":"GoogleIap","GoogleIapPackageName":"\#(nul)","GoogleIapToken":"\#(nul)"}"#
                ),
                (setup.relay.url + "/api/v1/webhooks", publisher, #"{"Url":"\#(nul)","Events":["\#(nul)"]}"#),
                (
                    setup.relay.opsURL + "/ops/validations/replay", setup.relay.keys.operator,
                    #"{"reason":"\#(nul)","parked":true}"#
                ),
            ]
            for (url, key, body) in bodies {
                let named = Data("main:\(key)".utf8).base64EncodedString()
                for credentials in ["Bearer \(key)", "Basic \(named)"] {
                    let answer = try await HTTP.post(
                        url, headers: ["Authorization": credentials, "Content-Type": "application/json"],
                        body: Data(body.utf8))
                    #expect(answer.status < 500, "\(url) \(body): \(answer.status) \(answer.text)")
                }
            }
            let form = "grant_type=client_credentials&client_id=main%00&client_secret=\(publisher)%00"
            let token = try await HTTP.post(
                setup.relay.url + "/oauth/token", headers: ["Content-Type": "application/x-www-form-urlencoded"],
                body: Data(form.utf8))
            #expect((400..<500).contains(token.status))
        }
    }
}
