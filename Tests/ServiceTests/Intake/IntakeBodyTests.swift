import Foundation
import NIOCore
import Testing

/// Bodies that are refused before they are purchases.
@Suite(.serialized) struct IntakeBodyTests {
    @Test func bodiesThatAreNoJSONAre400TooLargeOnes413OtherTypes415() async throws {
        try await Setup.run(settings: ["RELAY_LOG_LEVEL": "info"], role: "front") { setup in
            let good = RawPurchase()
            let deep = String(repeating: "[", count: 100_000)
            let broken: [Data] = [
                Data(), Data(" ".utf8), Data("{".utf8), Data("customerEmail=ana".utf8), Data("{]".utf8),
                Data("{'a':1}".utf8), Data("{\"a\":1,}".utf8), Data("{\"a\":01}".utf8), Data("{\"a\":NaN}".utf8),
                Data("\u{feff}\u{feff}\(good.text)".utf8), Data((good.text + "{}").utf8), Data((good.text + "x").utf8),
                good.data.dropLast(1), good.data.prefix(40), Data(deep.utf8), Data("{\"a\":\(deep)".utf8),
                Data("{\"a\":\(deep)\(String(repeating: "]", count: 100_000))}".utf8),
                Data((String(repeating: "{\"a\":", count: 50_000) + "1" + String(repeating: "}", count: 50_000)).utf8),
                Data("{\"a\":\"".utf8) + Data([0xff, 0xfe]) + Data("\"}".utf8),
                Data("{\"a\":\"".utf8) + Data([0xc0, 0x80]) + Data("\"}".utf8),
                Data("{\"customerEmail\":\"".utf8) + Data([0xed, 0xa0, 0x80]) + Data("\"}".utf8),
                Data("{\"a\":\"line\nbreak\"}".utf8), Data("{\"a\":\"\\x\"}".utf8), Data([0]),
                Data([0x1f, 0x8b, 8, 0]),
            ]
            for body in broken {
                expectProblem(
                    try await setup.relay.post(body), 400, "not_json", String(decoding: body.prefix(40), as: UTF8.self))
            }

            let types = [
                "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/xml", ";",
                "json",
            ]
            for type in types + ["application/json; charset=utf-16"] {
                let answer = try await setup.relay.post(good.data, headers: ["Content-Type": type])
                expectProblem(answer, 415, "unsupported_media_type", type)
                #expect(answer.json["detail"].string == "send application/json, in UTF-8")
            }
            expectProblem(
                try await setup.relay.post(good.data, headers: ["Content-Encoding": "gzip"]), 415, nil, "gzip")
            for (index, type) in ["application/json; charset=utf-8", "Application/JSON", "application/vnd.x+json"]
                .enumerated()
            {
                let body = RawPurchase(email: "type\(index)@example.test").data
                #expect(try await setup.relay.post(body, headers: ["Content-Type": type]).status == 202, "\(type)")
            }

            let large = good.with("filler", text: String(repeating: "x", count: 5 << 20)).data
            expectProblem(
                try await refusal { try await setup.relay.post(large) }, 413, "body_too_large", "by Content-Length")
            let inChunks = try await refusal {
                try await HTTP.postChunked(
                    setup.relay.url + "/apple/payment",
                    headers: ["Authorization": "Bearer \(setup.relay.keys.app)", "Content-Type": "application/json"],
                    body: large)
            }
            expectProblem(inChunks, 413, "body_too_large", "in chunks")
            // Just below the limit, whole and in chunks: accepted.
            let room = (4 << 20) - 2_000
            for chunked in [false, true] {
                let filled = RawPurchase(email: "room\(chunked)@example.test")
                    .with("filler", text: String(repeating: "x", count: room)).data
                let headers = ["Authorization": "Bearer \(setup.relay.keys.app)", "Content-Type": "application/json"]
                let url = setup.relay.url + "/apple/payment"
                let answer =
                    chunked
                    ? try await HTTP.postChunked(url, headers: headers, body: filled)
                    : try await HTTP.post(url, headers: headers, body: filled)
                #expect(answer.status == 202, "\(chunked) \(answer.text)")
            }
            #expect(try await setup.count("validations") == 5)
        }
    }

    /// The answer arrives, and the connection closes, before the whole body is sent. A client that still writes may see
    /// only the close; then the call is repeated.
    private func refusal(_ post: () async throws -> HTTP.Answer) async throws -> HTTP.Answer {
        for _ in 0..<9 {
            do {
                return try await post()
            } catch ChannelError.ioOnClosedChannel {
                continue
            }
        }
        return try await post()
    }
}
