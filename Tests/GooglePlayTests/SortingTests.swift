import Foundation
import Hummingbird
import ReceiverSupport
import RelayCore
import StoreAPI
import StoreTestSupport
import TestRun
import Testing

@testable import GooglePlay

@Suite(.timeLimit(.paced(minutes: 4))) struct SortingTests {
    typealias Answer = StoreAnswer<StoreSubscription>

    private static func fault(_ reason: String) -> String {
        #"{"error":{"code":403,"message":"secret words","errors":[{"reason":"\#(reason)"}]}}"#
    }

    @Test(
        arguments: [
            (400, "{}", .notAPurchase("invalid")), (404, "{}", .notAPurchase("unknown")),
            (404, fault("applicationNotFound"), .misconfigured("Google does not know this app")),
            (404, fault("purchaseTokenNotFound"), .notAPurchase("unknown")), (410, "{}", .notAPurchase("gone")),
            (401, "{}", .misconfigured("the access token is refused")),
            (403, fault("permissionDenied"), .misconfigured("the service account may not see this app's purchases")),
            (403, fault("rateLimitExceeded"), .tryAgain("quota", retryAfter: .seconds(9))),
            (403, fault("quotaExceeded"), .tryAgain("quota", retryAfter: .seconds(9))),
            (408, "", .tryAgain("HTTP 408", retryAfter: .seconds(9))),
            (429, "", .tryAgain("HTTP 429", retryAfter: .seconds(9))),
            (500, "", .tryAgain("HTTP 500", retryAfter: .seconds(9))),
            (503, "secret words", .tryAgain("HTTP 503", retryAfter: .seconds(9))),
            (405, "", .misconfigured("HTTP 405")), (204, "", .misconfigured("HTTP 204")),
            (200, "", .tryAgain("unreadable", retryAfter: nil)), (200, "[]", .tryAgain("unreadable", retryAfter: nil)),
            (200, "{}", .tryAgain("unreadable", retryAfter: nil)),
        ] as [(Int, String, Answer)])
    func eachStatusIsSorted(status: Int, body: String, answer: Answer) async throws {
        let (said, _) = try await withAnswers { _ in
            status == 204
                ? Response(status: .noContent) : json(body, status: .init(code: status), headers: [.retryAfter: "9"])
        } _: { client in
            await client.subscription(token: "t", packageName: "com.example.app")
        }
        #expect(said == answer)
    }

    @Test(
        arguments: [
            (
                400, #"{"error":"invalid_grant","error_description":"secret"}"#,
                .misconfigured("the service account gets no token: invalid_grant")
            ),
            (401, #"{"error":"made up and secret"}"#, .misconfigured("the service account gets no token: HTTP 401")),
            (302, "", .misconfigured("the service account gets no token: HTTP 302")),
            (503, "", .tryAgain("token HTTP 503", retryAfter: .seconds(9))),
            (200, "<html>", .tryAgain("token_unreadable", retryAfter: nil)),
            (
                200, #"{"access_token":"two\r\nlines","expires_in":3599}"#,
                .tryAgain("token_unreadable", retryAfter: nil)
            ),
            (200, "huge", .tryAgain("token_response_too_large", retryAfter: nil)),
        ] as [(Int, String, Answer)])
    func eachAnswerOfTheTokenEndpointIsSorted(status: Int, body: String, answer: Answer) async throws {
        let account = try Key.account()
        let (said, received) = try await withHTTPServer { _ in
            json(
                body == "huge" ? String(repeating: "x", count: 100_000) : body, status: .init(code: status),
                headers: [.retryAfter: "9", .location: "/stolen"])
        } test: { url in
            try await withStoreClient { http in
                await GooglePlayClient(
                    url: url, tokenURL: url + "/token", account: account, timeout: .seconds(20), httpClient: http,
                    logger: CapturedLog().logger
                ).subscription(token: "t", packageName: "com.example.app")
            }
        }
        #expect(said == answer)
        #expect(received.map(\.path) == ["/token"])
        #expect(received.allSatisfy { $0.body.hasPrefix("grant_type=urn%3Aietf%3Aparams%3Aoauth") })
    }

    /// Following a redirect would send the token to its target.
    @Test(arguments: [301, 302, 307, 308]) func aRedirectIsNotFollowed(status: Int) async throws {
        let (said, received) = try await withAnswers { request in
            guard !request.path.hasPrefix("/stolen") else { return json(subscription()) }
            return json("", status: .init(code: status), headers: [.location: "/stolen"])
        } _: { client in
            await client.subscription(token: "t", packageName: "com.example.app")
        }
        #expect(said == .misconfigured("HTTP \(status)"))
        #expect(!received.contains { $0.path.hasPrefix("/stolen") })
    }

    @Test func everyPartOfAPathIsEncoded() async throws {
        let (_, received) = try await withAnswers { _ in
            json("{}", status: 404)
        } _: { client in
            await client.subscription(token: "a/../b?c#d é%", packageName: "com.example/..")
        }
        #expect(
            received.last?.path
                == "/androidpublisher/v3/applications/com.example%2F../purchases/subscriptionsv2/tokens/"
                + "a%2F..%2Fb%3Fc%23d%20%C3%A9%25")
        #expect(received.last?.authorization == "Bearer ya29.good")
    }

    @Test func aBodyBeyondTheBoundIsNotRead() async throws {
        let (said, _) = try await withAnswers { _ in
            json("{\"x\":\"\(String(repeating: "x", count: 400_000))\"}")
        } _: { client in
            await client.subscription(token: "t", packageName: "com.example.app")
        }
        #expect(said == .tryAgain("response_too_large", retryAfter: nil))
    }

    /// The limit shows that the deadline ended the call and not the server. One deadline covers token and answer.
    @Test(
        arguments: [
            [], [.write("HTTP/1.1 200 OK\r\n")],
            [.write("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"), .trickle],
        ] as [[RawStep]])
    func theDeadlineEndsEveryCall(steps: [RawStep]) async throws {
        let account = try Key.account()
        let start = ContinuousClock.now
        let said = try await withRawServer(steps) { url in
            try await withStoreClient { http in
                await GooglePlayClient(
                    url: url, tokenURL: url + "/token", account: account, timeout: .seconds(2), httpClient: http,
                    logger: CapturedLog().logger
                ).subscription(token: "t", packageName: "com.example.app")
            }
        }
        #expect(said == .tryAgain("token_timeout", retryAfter: nil))
        #expect(start.duration(to: .now) >= .seconds(1.9))
    }
}
