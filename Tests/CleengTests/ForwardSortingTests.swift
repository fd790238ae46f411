import NIOCore
import NIOHTTP1
import OutboundHTTP
import Testing

import enum RelayCore.Connector
import struct RelayCore.ForwardAnswer

@testable import Cleeng

struct ForwardSortingTests {
    private func verdict(
        _ status: Int, _ body: String = "", _ headers: HTTPHeaders = [:]
    ) -> ForwardAnswer.Verdict {
        let reply = HTTPReply(status: status, headers: headers, body: .success(ByteBuffer(string: body)))
        return ForwardAnswer.Verdict(reply, scrubber: MessageScrubber(hiding: ["tok", "ana@example.test"]))
    }

    @Test(arguments: 100..<700)
    func onlyA400OrA422RejectsAPurchase(status: Int) {
        guard case .rejected = verdict(status) else {
            #expect(status != 400 && status != 422)
            return
        }
        #expect(status == 400 || status == 422)
    }

    @Test(arguments: [200, 201, 202, 204, 299])
    func successIsAcceptedWithAnyBody(status: Int) {
        #expect(verdict(status) == .accepted)
        #expect(verdict(status, "<html>") == .accepted)
        #expect(verdict(status, #"{"success":false,"message":"no"}"#) == .accepted)
    }

    @Test(arguments: [301, 302, 304, 307, 308, 401, 403, 404, 405, 406, 407, 410, 411, 415])
    func ourOwnFaultIsNamedAsSuch(status: Int) {
        #expect(verdict(status, #"{"message":"why"}"#) == .misconfigured(message: "why"))
    }

    @Test(arguments: [
        (408, CleengTrouble.requestTimeout), (409, .conflict), (425, .conflict), (429, .throttled),
        (500, .upstreamError),
        (502, .upstreamError), (503, .upstreamError), (599, .upstreamError), (402, .unexpectedStatus),
        (413, .unexpectedStatus), (418, .unexpectedStatus), (451, .unexpectedStatus), (600, .unexpectedStatus),
    ])
    func allElseIsTriedAgain(status: Int, trouble: CleengTrouble) {
        #expect(verdict(status) == .tryAgain(trouble, retryAfter: nil))
        #expect(verdict(status, "", ["Retry-After": "7"]) == .tryAgain(trouble, retryAfter: .seconds(7)))
    }

    @Test(
        arguments: [
            (#"{"code":"REQ0001","message":"Invalid"}"#, "REQ0001", "Invalid"),
            (#"{"code":11,"message":"Invalid","data":null,"success":false}"#, "11", "Invalid"),
            (#"{"error":{"code":5,"message":"Denied"}}"#, "5", "Denied"),
            (#"{"error":"Denied"}"#, nil, "Denied"),
            (#"{"responseData":{},"errors":["First","Second"]}"#, nil, "First"),
            (#"{"errors":[{"code":"E1","message":"First"}]}"#, "E1", "First"),
            (#""just text""#, nil, "just text"),
            ("Bad Request\r\n", nil, "Bad Request  "),
            ("<html><body>nginx</body></html>", nil, nil),
            (#"{"message":{"deep":1},"code":[1]}"#, nil, nil),
            (#"{"message":""}"#, nil, nil),
            ("", nil, nil), ("{", nil, "{"), ("[]", nil, nil), ("null", nil, nil),
        ] as [(String, String?, String?)])
    func codeAndMessageAreFoundInEveryPlace(body: String, code: String?, message: String?) {
        #expect(verdict(400, body) == .rejected(code: code, message: message))
    }

    @Test func aMessageIsBoundedAndHoldsNeitherControlCharactersNorSecrets() {
        let message =
            #"tok of ANA@example.test: ana@example.test\u0000\u001b[31m\u202e\nnext "#
            + String(repeating: "x", count: 500)
        guard case .rejected(let code, let cleaned?) = verdict(422, #"{"code":"tok","message":"\#(message)"}"#) else {
            Issue.record("not rejected")
            return
        }
        #expect(code == "***")
        #expect(cleaned.hasPrefix("*** of ANA@example.test: ***[31m next xxx"))
        #expect(cleaned.unicodeScalars.count == MessageScrubber.maximumCharacters)
    }

    @Test func aSecretIsHiddenBeforeTheMessageIsCut() {
        let text = String(repeating: "x", count: MessageScrubber.maximumCharacters - 4) + "secret-token"
        #expect(MessageScrubber(hiding: ["secret-token"]).clean(text)?.hasSuffix("x***") == true)
    }

    @Test("a combining mark beside a secret does not hide it", arguments: ["\u{600}", "\u{301}", "\u{200D}"])
    func aMarkBesideASecret(mark: String) throws {
        for text in ["\(mark)secret-token\(mark) end", "x\(mark)secret-token\(mark)"] {
            let cleaned = try #require(MessageScrubber(hiding: ["secret-token"]).clean(text))
            #expect(!Array(cleaned.utf8).contains(Array("secret-token".utf8)), "\(cleaned.debugDescription)")
        }
    }

    @Test func hostileJSONIsReadWithoutHarm() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(verdict(400, deep) == .rejected(code: nil, message: nil))
        let closed = String(repeating: "{\"error\":", count: 300) + "1" + String(repeating: "}", count: 300)
        #expect(verdict(400, closed) == .rejected(code: nil, message: nil))
        let number = #"{"code":1e999}"#
        #expect(verdict(400, number) == .rejected(code: nil, message: number))
    }

    @Test func aMissingBodyDoesNotChangeTheResult() {
        for (status, verdict) in [
            (200, ForwardAnswer.Verdict.accepted), (400, .rejected(code: nil, message: nil)),
            (401, .misconfigured(message: nil)), (503, .tryAgain(.upstreamError, retryAfter: nil)),
        ] {
            let reply = HTTPReply(status: status, headers: [:], body: .failure(.timeout))
            #expect(ForwardAnswer.Verdict(reply, scrubber: MessageScrubber(hiding: [])) == verdict)
        }
    }

    /// A connector's code decides, and a migration's 422 is no refusal.
    @Test(arguments: [Connector.storekit2, .google], [400, 422])
    func aConnectorsRefusalWithoutItsBodyIsTriedAgain(connector: Connector, status: Int) {
        func verdict(_ body: Result<ByteBuffer, OutboundError>) -> ForwardAnswer.Verdict {
            ForwardAnswer.Verdict(
                HTTPReply(status: status, headers: [:], body: body), of: connector, name: "n",
                scrubber: MessageScrubber(hiding: []))
        }
        #expect(verdict(.failure(.connectionClosed)) == .tryAgain(.connectionClosed, retryAfter: nil))
        #expect(verdict(.success(ByteBuffer(string: "{}"))) == .rejected(code: nil, message: nil))
    }
}
