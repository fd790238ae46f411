import ReceiverSupport
import RelayCore
import StoreAPI
import StoreTestSupport
import TestRun
import Testing

@testable import GooglePlay

@Suite("The client against the simulated Google Play, a process of its own", .timeLimit(.paced(minutes: 4)))
struct ClientTests {
    private let app: BundleID = "com.example.app"

    @Test func aSubscriptionIsFoundAndTheTokenAskedForOnce() async throws {
        let log = CapturedLog()
        try await withGoogle(log: log) { google, client in
            try await google.control("PUT", "subscriptions/token%2F1", #"{"productId":"gold","basePlanId":"monthly"}"#)
            // Concurrent calls first, then calls one after the other.
            let answers = await withTaskGroup(of: StoreAnswer<StoreSubscription>.self) { group in
                for _ in 0..<8 { group.addTask { await client.subscription(token: "token/1", packageName: app) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            for answer in answers + [await client.subscription(token: "token/1", packageName: app)] {
                guard case .found(let found) = answer else {
                    Issue.record("\(answer)")
                    continue
                }
                #expect(found.state == .active)
                #expect(found.productID == "gold")
                #expect(found.ledgerKey == "google:token/1")
            }
            let requests = try await google.requests()
            #expect(requests.filter { $0.hasPrefix("POST /token good answered 200") }.count == 1)
            #expect(requests.filter { $0.contains("/subscriptionsv2/tokens/token%2F1 good answered 200") }.count == 9)
        }
        #expect(!log.lines.isEmpty)
        for line in log.lines {
            #expect(line.hasPrefix("debug"))
            #expect(!line.contains("ya29") && !line.contains("token/1") && !line.contains("token%2F1"))
        }
    }

    @Test func anUnknownTokenIsNoPurchase() async throws {
        try await withGoogle { google, client in
            #expect(await client.subscription(token: "nobody", packageName: app) == .notAPurchase("unknown"))
            try await google.control("PUT", "subscriptions/old")
            #expect(await client.subscription(token: "old", packageName: "com.other") == .notAPurchase("unknown"))
            try await google.control("POST", "subscriptions/old/forget")
            #expect(await client.subscription(token: "old", packageName: app) == .notAPurchase("gone"))
            // No request is sent for these.
            let count = try await google.requests().count
            for (token, package) in [("", app), ("..", app), ("a", ""), (String(repeating: "x", count: 3_000), app)] {
                #expect(await client.subscription(token: token, packageName: package) == .notAPurchase("invalid"))
            }
            #expect(try await google.requests().count == count)
        }
    }

    @Test func aTokenThatIsWithdrawnIsRenewedOnce() async throws {
        try await withGoogle { google, client in
            try await google.control("PUT", "subscriptions/token-1")
            #expect((try? await client.found("token-1", app)) != nil)
            try await google.control("DELETE", "tokens")
            #expect((try? await client.found("token-1", app)) != nil)
            try await google.control("PUT", "trouble", #"{"on":"purchases","status":401}"#)
            #expect(
                await client.subscription(token: "token-1", packageName: app)
                    == .misconfigured("the access token is refused"))
            let requests = try await google.requests()
            #expect(requests.filter { $0.hasPrefix("POST /token") }.count == 3)
            #expect(requests.filter { $0.hasPrefix("GET ") }.count == 5)
        }
    }

    @Test func aTokenIsNotUsedUntilTheVeryEnd() async throws {
        try await withGoogle(tokenLife: 60) { google, client in
            try await google.control("PUT", "subscriptions/token-1")
            for _ in 0..<2 { _ = await client.subscription(token: "token-1", packageName: app) }
            #expect(try await google.requests().filter { $0.hasPrefix("POST /token") }.count == 2)
        }
    }

    @Test func aLifeIsSeenAsItGoes() async throws {
        try await withGoogle { google, client in
            try await google.control("PUT", "subscriptions/life", #"{"orderId":"GPA.1-1-1-1","phase":"freeTrial"}"#)
            var seen = try await client.found("life", app)
            #expect(seen.isTrial == true && seen.mainItem?.orderID == "GPA.1-1-1-1" && seen.autoRenews == true)
            try await google.control("POST", "subscriptions/life/renew")
            #expect(try await client.found("life", app).mainItem?.orderID == "GPA.1-1-1-1..0")
            for (act, state, word) in [
                ("grace", StoreState.inGrace, ""), ("hold", .onHold, ""), ("pause", .paused, ""),
                ("renew", .active, ""),
                ("refund", .expired, "Developer"),
            ] {
                try await google.control("POST", "subscriptions/life/\(act)")
                seen = try await client.found("life", app)
                #expect(seen.state == state && seen.cancellation?.reason.rawValue ?? "" == word && seen.key == "life")
            }
            try await google.control("POST", "subscriptions/life/cancel", #"{"by":"user","survey":"COST_RELATED"}"#)
            #expect(try await client.found("life", app).cancellation?.reason == .cost)
        }
    }

    @Test func whatWasBoughtOnceIsFoundToo() async throws {
        try await withGoogle { google, client in
            try await google.control("PUT", "products/film-1", #"{"productId":"film","orderId":"GPA.2","isTest":true}"#)
            guard case .found(let film) = await client.product("film", token: "film-1", packageName: app) else {
                Issue.record("not found")
                return
            }
            #expect(film.kind == .oneTime && film.mainItem?.orderID == "GPA.2" && film.isTest)
            let period = try #require(film.ledgerStatement?.periods.first)
            #expect(period.id == "GPA.2" && period.expiresAt == nil && period.revocation == nil)
            #expect(film.renewalIntent == nil && film.ledgerStatement?.renewal == nil)
            try await google.control("PUT", "products/film-1", #"{"productId":"film","purchaseState":1}"#)
            guard case .found(let refunded) = await client.product("film", token: "film-1", packageName: app) else {
                Issue.record("not found")
                return
            }
            #expect(refunded.ledgerStatement?.periods.first?.revocation?.kind == .refunded)
            // A product of an unknown state may not be a purchase.
            try await google.control("PUT", "products/film-1", #"{"productId":"film","purchaseState":7}"#)
            guard case .found(let new) = await client.product("film", token: "film-1", packageName: app) else {
                Issue.record("not found")
                return
            }
            #expect(new.ledgerStatement == nil)
            try await google.control("PUT", "products/film-1", #"{"productId":"film","isConsumed":true}"#)
            guard case .found(let used) = await client.product("film", token: "film-1", packageName: app) else {
                Issue.record("not found")
                return
            }
            #expect(used.ledgerStatement == nil)
        }
    }

    @Test func aStoreThatHangsEndsByTheDeadline() async throws {
        try await withGoogle(timeout: .seconds(10)) { google, client in
            try await google.control("PUT", "trouble", #"{"hang":true}"#)
            #expect(
                await client.subscription(token: "t", packageName: app) == .tryAgain("token_timeout", retryAfter: nil))
            try await google.control("PUT", "trouble", #"{"on":"purchases","reset":true}"#)
            #expect(
                await client.subscription(token: "t", packageName: app)
                    == .tryAgain("connection_closed", retryAfter: nil))
            try await google.control(
                "PUT", "trouble", #"{"on":"purchases","status":200,"body":"<html>","times":1}"#)
            #expect(await client.subscription(token: "t", packageName: app) == .tryAgain("unreadable", retryAfter: nil))
            #expect(await client.subscription(token: "t", packageName: app) == .notAPurchase("unknown"))
        }
    }
}

extension GooglePlayClient {
    fileprivate func found(_ token: String, _ app: BundleID) async throws -> StoreSubscription {
        guard case .found(let found) = await subscription(token: token, packageName: app) else {
            throw StoreProcess.Fault.notReady
        }
        return found
    }
}
