import Foundation
import NIOHTTP1
import Testing

/// Requests in the form of existing clients.
@Suite struct BillingClientTests {
    /// npm `billwerk`: Basic credentials, a slash before the query, `take` in every request, and always a body to read.
    @Test func nodeBillwerk() async throws {
        try await BillingScene.run { billing in
            let granted = try await billing.form(
                "grant_type=client_credentials",
                headers: ["Authorization": "Basic " + PublisherScene.base64("main:\(billing.scene.key)")])
            #expect(granted.status == 200 && granted.header("Cache-Control") == "no-store")
            #expect(granted.json["token_type"].string == "bearer" && granted.json["expires"].int == 0)
            let token = try #require(granted.json["access_token"].string)
            #expect(token == billing.token && !token.contains(billing.scene.key.suffix(64)))
            let order = try await billing.post(
                "/Orders/?take=500",
                #"{"ExternalSubscriptionId":"\#(try await billing.externalID())","Customer":{"FirstName":"A"}}"#,
                token: token)
            #expect(order.status == 201, "\(order.text)")
            let id = order.json["Id"].string ?? ""
            let contract = try await billing.post("/Orders/\(id)/commit?take=500", "{}", token: token)
            #expect(contract.json["LifecycleStatus"].string == "Active", "\(contract.text)")
            let list = try await billing.get("/Contracts/?take=99999999999999999999&skip=500", token: token)
            #expect(list.json.array?.count == 1)
        }
    }

    /// The Laravel client: slashes at the end, Pascal case names in the path, and in older versions a token in the
    /// query.
    @Test func laravel() async throws {
        try await BillingScene.run { billing in
            let order = try await billing.post(
                "/Orders/", #"{"ExternalSubscriptionId":"\#(try await billing.externalID())","Customer":{}}"#)
            let id = order.json["Id"].string ?? ""
            #expect(try await billing.post("/Orders/\(id.uppercased())/Commit/", "{}").status == 200)
            let query = try await HTTP.get(
                billing.relay.url + "/API/V1/ORDERS/\(id)/?access_token=\(billing.token)")
            #expect(query.status == 200 && query.json["Status"].string == "Completed")
            let slash = try await billing.form(
                "grant_type=client_credentials&client_id=main&client_secret=\(billing.scene.key)", path: "/OAuth/Token/"
            )
            #expect(slash.json["access_token"].string == billing.token)
        }
    }

    /// n8n: a legal entity in a header, a commit without a body, and manual webhooks.
    @Test func n8n() async throws {
        try await BillingScene.run { billing in
            let entity = ["X-SELECTED-LEGAL-ENTITY-ID": "66aa00000000000000000009"]
            let made = try await billing.call(
                .POST, "/webhooks",
                #"{"events":["ContractCreated","ContractChanged","CONTRACTCHANGED"],"url":"https://n8n.example.test/w/1"}"#,
                headers: entity)
            #expect(made.status == 201, "\(made.text)")
            let id = try #require(made.json["Id"].string)
            let list = try await billing.call(.GET, "/webhooks", headers: entity)
            #expect(list.json.array?.map { $0["Id"].string } == [id])
            #expect(list.json[0]["Url"].string == "https://n8n.example.test/w/1")
            let order = try await billing.call(
                .POST, "/orders", #"{"ExternalSubscriptionId":"\#(try await billing.externalID())","Customer":{}}"#,
                headers: entity)
            let committed = try await billing.call(
                .POST, "/orders/\(order.json["Id"].string ?? "")/commit", headers: entity)
            #expect(committed.status == 200)
            let other = try await billing.grant(
                key: try await Relay.makeKey("publisher", billing.scene.setup.database, publisher: "other"),
                publisher: "other")
            #expect(try await billing.call(.DELETE, "/webhooks/\(id)", token: other).status == 404)
            let gone = try await billing.call(.DELETE, "/webhooks/\(id)", headers: entity)
            #expect(gone.status == 200 && gone.text == "{}")
            #expect(try await billing.call(.DELETE, "/webhooks/\(id)").status == 404)
            #expect(try await billing.get("/webhooks").text == "[]")
        }
    }

    @Test func anUnknownClientGetsAnOAuthError() async throws {
        try await BillingScene.run { billing in
            let key = billing.scene.key
            for (body, status, error) in [
                ("grant_type=client_credentials&client_id=other&client_secret=\(key)", 401, "invalid_client"),
                ("grant_type=client_credentials&client_id=main&client_secret=\(key)x", 401, "invalid_client"),
                (
                    "grant_type=client_credentials&client_id=main&client_secret=\(billing.relay.keys.app)", 401,
                    "invalid_client"
                ),
                ("grant_type=client_credentials", 401, "invalid_client"),
                ("grant_type=password&username=a&password=b", 400, "unsupported_grant_type"),
                ("client_id=main&client_secret=\(key)", 400, "invalid_request"),
                ("grant_type=client_credentials&grant_type=client_credentials", 400, "invalid_request"),
                ("", 400, "invalid_request"), ("%%%&=&&&==", 400, "invalid_request"),
                (String(repeating: "a&", count: 100), 400, "invalid_request"),
            ] {
                let answer = try await billing.form(body)
                #expect(answer.status == status && answer.json["error"].string == error, "\(body): \(answer.text)")
                #expect(answer.header("Cache-Control") == "no-store")
                #expect((answer.header("WWW-Authenticate") != nil) == (status == 401))
            }
            let app = try await billing.form(
                "grant_type=client_credentials&client_id=main&client_secret=\(billing.relay.keys.app)")
            #expect(
                app.json["error_description"].string
                    == "client_secret is a key of the role app: this takes one of the role publisher")
            let large = try await billing.form(String(repeating: "a", count: 20_000))
            #expect(large.status == 413 && large.json["error"].string == "invalid_request")
            let got = try await HTTP.get(billing.relay.url + "/oauth/token")
            #expect(got.status == 405 && got.json["error"].string == "invalid_request")
        }
    }

    @Test func aTokenOpensBillingAloneAndEndsWithItsKey() async throws {
        try await BillingScene.run { billing in
            #expect(try await billing.get("/Orders").status == 200)
            // The key itself works as well.
            #expect(try await billing.get("/Orders", token: billing.scene.key).status == 200)
            #expect(try await billing.get("/Orders", token: billing.relay.keys.app).status == 403)
            for token in [billing.token + "0", String(billing.token.dropLast()) + "x", "x", ""] {
                let answer = try await billing.get("/Orders", token: token)
                #expect(answer.status == 401 && answer.json["Message"].string != nil, "\(answer.text)")
                #expect(answer.header("WWW-Authenticate") != nil)
            }
            #expect(try await HTTP.get(billing.relay.url + "/api/v1/Orders").status == 401)
            let purchases = try await billing.scene.get("/v2/customers/u/purchases", key: billing.token)
            #expect(purchases.status == 401)
            let id = billing.scene.key.split(separator: "_")[2]
            let revoked = try await ChildProcess.run(
                "receipt-relay", ["keys", "revoke", String(id)],
                environment: ["RELAY_DATABASE_URL": billing.scene.setup.database.url])
            #expect(revoked.code == 0)
            _ = try await Awaiting.fact("the token opens no longer", is: 401) {
                try await billing.get("/Orders").status
            }
            #expect(!billing.relay.process.output.contains { $0.contains(billing.token.suffix(64)) })
        }
    }
}
