import Foundation
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import ReceiverSupport
import Testing

import struct RelayCore.Identifier

@testable import Cleeng

struct AccessibleTagsTests {
    private static let offers: [OfferID] = ["S1_US", "S2_US", "sport"]
    private static let tags: [OfferID: [TagID]] = ["S1_US": ["sport", "news"], "S2_US": ["sport", "kids"]]

    /// A JSON-RPC server that issues the tokens `t1`, `t2`, … and answers a read with `read`'s result for its token.
    private func run(
        reads: Int = 1, create: @escaping @Sendable () -> String? = { nil },
        read: @escaping @Sendable (String) -> String
    ) async throws -> ([EntitlementReply], methods: [String], bodies: [NSDictionary]) {
        let made = NIOLockedValueBox(0)
        let (answers, received) = try await withHTTPServer { request in
            let call = try? JSONSerialization.jsonObject(with: Data(request.body.utf8)) as? [String: Any]
            let parameters = call?["params"] as? [String: String]
            guard call?["method"] as? String == "generateCustomerToken" else {
                return json(read(parameters?["customerToken"] ?? ""))
            }
            let number = made.withLockedValue { made in
                made += 1
                return made
            }
            return json(create() ?? #"{"jsonrpc":"2.0","id":"1","error":null,"result":{"token":"t\#(number)"}}"#)
        } test: { url in
            try await withCleeng(url, source: .accessibleTags, tags: Self.tags) { cleeng in
                var answers: [EntitlementReply] = []
                for _ in 0..<reads {
                    answers.append(await cleeng.entitlements(customerEmail: "a@b.test", offers: Self.offers))
                }
                return answers
            }
        }
        let bodies = try received.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.body.utf8)) as? NSDictionary)
        }
        #expect(received.allSatisfy { $0.path == "/3.0/json-rpc" && $0.headers["x-publisher-token"] == nil })
        return (answers, bodies.map { $0["method"] as? String ?? "" }, bodies)
    }

    private func entitled(_ answer: EntitlementReply?) -> Set<OfferID>? {
        guard case .read(let offers)? = answer?.verdict, offers.count == Self.offers.count else { return nil }
        return Set(offers.filter(\.value.isEntitled).keys)
    }

    @Test func anOfferIsEntitledWhenAllOfItsTagsAreAccessible() async throws {
        let (answers, methods, bodies) = try await run { _ in
            #"{"jsonrpc":"2.0","id":"1","error":null,"result":{"tags":["news","sport"]}}"#
        }
        #expect(entitled(answers.first) == ["S1_US", "sport"])
        guard case .read(let offers)? = answers.first?.verdict else { return }
        #expect(
            offers["S1_US"]
                == OfferEntitlement(
                    isEntitled: true, source: .accessibleTags, offerId: "S1_US", tags: ["sport", "news"]))
        #expect(methods == ["generateCustomerToken", "getAccessibleTags"])
        #expect(
            bodies.first?["params"] as? [String: String] == [
                "publisherToken": publisherToken, "customerEmail": "a@b.test",
            ])
        #expect(
            bodies.last?["params"] as? [String: String] == ["publisherToken": publisherToken, "customerToken": "t1"])
        #expect(bodies.first?["jsonrpc"] as? String == "2.0")
    }

    @Test func theCustomerTokenIsKept() async throws {
        let (answers, methods, _) = try await run(reads: 3) { _ in #"{"result":{"tags":[]}}"# }
        #expect(answers.allSatisfy { entitled($0) == [] })
        #expect(methods == ["generateCustomerToken"] + Array(repeating: "getAccessibleTags", count: 3))
    }

    @Test func aRefusedTokenIsReplacedOnce() async throws {
        let (answers, methods, _) = try await run { token in
            token == "t1"
                ? #"{"id":"1","error":{"code":1,"message":"Invalid token"},"result":null}"#
                : #"{"id":"1","error":null,"result":{"tags":["sport"]}}"#
        }
        #expect(entitled(answers.first) == ["sport"])
        #expect(
            methods == ["generateCustomerToken", "getAccessibleTags", "generateCustomerToken", "getAccessibleTags"])
    }

    @Test func aTokenRefusedTwiceIsNotTriedAgain() async throws {
        let (answers, methods, _) = try await run { _ in #"{"error":{"code":"1","message":"Invalid"}}"# }
        #expect(answers.first?.verdict == .tryAgain(.customerToken, retryAfter: nil))
        #expect(methods.count == 4)
    }

    @Test func aCustomerWhomCleengDoesNotKnowIsNotEntitledYet() async throws {
        let (answers, methods, _) = try await run {
            #"{"error":{"code":10,"message":"Unknown"},"result":null}"#
        } read: { _ in
            "{}"
        }
        #expect(entitled(answers.first) == [])
        #expect(methods == ["generateCustomerToken"])
    }

    /// 11 is a missing or invalid argument, 12 an inactive account.
    @Test(arguments: [4, 11, 12, 14])
    func anyOtherErrorSaysNothingAboutAccess(code: Int) async throws {
        let (answers, methods, _) = try await run {
            #"{"error":{"code":\#(code),"message":"E-mail address is required"},"result":null}"#
        } read: { _ in
            "{}"
        }
        #expect(answers.first?.verdict == .tryAgain(.remoteProcedure, retryAfter: nil))
        #expect(methods == ["generateCustomerToken"])
    }

    @Test func anOfferWhoseTagsAreThereIsEntitledBesideOneThatIsNotKnown() async throws {
        let (answers, _, _) = try await run { _ in #"{"result":{"tags":["news","sport",7,null]}}"# }
        let answer = try #require(answers.first)
        #expect(answer.verdict == .tryAgain(.unreadable, retryAfter: nil))
        #expect(answer.verdict(of: "S2_US") == answer.verdict)
        for offer in ["S1_US", "sport"] as [OfferID] {
            guard case .read(let offers) = answer.verdict(of: offer) else {
                Issue.record("not read: \(offer)")
                continue
            }
            #expect(offers[offer]?.isEntitled == true)
        }
    }

    @Test(
        arguments: [
            (
                #"{"error":{"code":3,"message":"pub_tok_SECRET_0123456789 t1 a@b.test"}}"#,
                .misconfigured(message: "*** *** ***")
            ),
            (#"{"error":{"code":5,"message":"Enterprise"}}"#, .misconfigured(message: "Enterprise")),
            (#"{"error":{"code":14,"message":"IP limit"}}"#, .tryAgain(.remoteProcedure, retryAfter: nil)),
            (#"{"error":{"message":"?"}}"#, .tryAgain(.remoteProcedure, retryAfter: nil)),
            (#"{"result":{"tags":null}}"#, .tryAgain(.unreadable, retryAfter: nil)),
            (#"{"result":null,"error":null}"#, .tryAgain(.unreadable, retryAfter: nil)),
            (#"{"result":{"tags":[]},"error":"denied"}"#, .tryAgain(.unreadable, retryAfter: nil)),
            (#"{"result":{"tags":[]},"error":["denied"]}"#, .tryAgain(.unreadable, retryAfter: nil)),
            ("<html>", .tryAgain(.unreadable, retryAfter: nil)), ("", .tryAgain(.unreadable, retryAfter: nil)),
        ] as [(String, EntitlementReply.Verdict)])
    func errorsInTheBodyAreSorted(body: String, verdict: EntitlementReply.Verdict) async throws {
        let (answers, _, _) = try await run { _ in body }
        #expect(answers.first?.verdict == verdict)
    }

    @Test(arguments: [(401, true), (404, true), (302, true), (429, false), (500, false)])
    func theStatusCountsWithoutAStatementInTheBody(status: Int, isOurFault: Bool) async throws {
        let (answer, _) = try await withHTTPServer { _ in
            json("", status: .init(code: status))
        } test: { url in
            try await withCleeng(url, source: .accessibleTags) {
                await $0.entitlements(customerEmail: "a@b.test", offers: ["x"])
            }
        }
        switch answer.verdict {
        case .misconfigured: #expect(isOurFault)
        case .tryAgain: #expect(!isOurFault)
        case .read: Issue.record("read")
        }
        #expect(answer.status == status)
    }
}
