import Foundation
import Testing

/// Behaviour that depends on the HTTP version, on both fronts; and a body that begins with a byte order mark.
@Suite struct IntakeVersionTests {
    private static func send(_ connection: PlainConnection, _ head: [String], _ body: Data = Data()) async throws {
        let text = head.map { $0 + "\r\n" }.joined() + "\r\n"
        try await connection.send(bytes: Array(text.utf8) + Array(body))
    }

    @Test func aRequestOfTheOldVersionIsAnsweredAndItsConnectionClosed() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            let body = TestPurchase(email: "ana@example.test").body
            let fields = [
                "Authorization: Bearer \(relay.keys.app)", "Content-Type: application/json",
                "Content-Length: \(body.count)",
            ]
            let first = try PlainConnection(to: relay.url)
            try await Self.send(first, ["POST /apple/payment HTTP/1.0"] + fields, body)
            let accepted = try await first.answer()
            #expect(accepted.status == 202 && accepted.head.hasPrefix("HTTP/1.0 "), "\(accepted.head)")
            #expect(try await first.isEnded())
            let id = try #require(accepted.json["validationId"].string)
            _ = try await relay.becomes("granted", id)

            // From the cache and by the router.
            for more in [[], ["Connection: keep-alive"]] {
                let polling = try PlainConnection(to: relay.url)
                for _ in 0..<3 {
                    try await Self.send(polling, ["GET /entitlements/\(id) HTTP/1.0", fields[0]] + more)
                    let answer = try await polling.answer()
                    #expect(answer.json["status"].string == "granted" && answer.head.hasPrefix("HTTP/1.0 200"))
                    if more.isEmpty { break }
                    #expect(answer.head.lowercased().contains("connection: keep-alive"), "\(answer.head)")
                }
                if more.isEmpty { #expect(try await polling.isEnded()) }
            }

            let probe = try PlainConnection(to: relay.opsURL)
            try await Self.send(probe, ["GET /healthz HTTP/1.0"])
            #expect(try await probe.answer().status == 200)
            #expect(try await probe.isEnded())
        }
    }

    @Test func aRequestWithoutHostOrWithTwoIsRefused() async throws {
        try await Setup.run(role: "front") { setup in
            for url in [setup.relay.url, setup.relay.opsURL] {
                for hosts in [[], ["Host: a", "Host: a"]] {
                    let connection = try PlainConnection(to: url)
                    try await Self.send(connection, ["GET /healthz HTTP/1.1"] + hosts)
                    let answer = try await connection.answer()
                    #expect(answer.status == 400 && answer.json["code"].string == "bad_request", "\(answer.head)")
                    #expect(answer.head.lowercased().contains("application/problem+json"), "\(answer.head)")
                    #expect(try await connection.isEnded())
                }
            }
        }
    }

    @Test func aByteOrderMarkBeforeABodyIsSkipped() async throws {
        try await Setup.run(role: "front") { setup in
            let body = Data([0xef, 0xbb, 0xbf]) + TestPurchase(email: "ana@example.test").body
            let answer = try await setup.relay.post(body)
            #expect(answer.status == 202)
        }
    }
}
