import AppStoreSimulation
import AppleStore
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestRun
import Testing

@testable import AppStoreSimulator

@Suite("What the simulated API says of its certificates", .timeLimit(.paced(minutes: 4)))
struct OCSPTests {
    private func statuses(_ bench: APIBench) async throws -> [RevocationCheck.Status] {
        let trust = ChainOfTrust(try TrustedRoots(adding: [try APIBench.authority.get().root]))
        try await bench.put("1")
        let item = try #require(try await bench.statuses("1").items.first)
        let transaction = try SignedTransaction(
            CompactJWS(try #require(item["signedTransactionInfo"] as? String)))
        _ = try await transaction.jws.verify(trust, signedDate: transaction.payload.signedDate)
        let check = RevocationCheck { request, path in
            let answer = try await Self.post(bench.url + path, request)
            #expect(answer.headers.first(name: "Content-Type") == "application/ocsp-response")
            return Array(try await answer.body.collect(upTo: 1 << 20).readableBytesView)
        }
        var found: [RevocationCheck.Status] = []
        for certificate in trust.recentChains.flatMap({ $0.certificates(validAt: Date()) }) {
            found.append(await check.status(of: certificate))
        }
        return found
    }

    private static func post(
        _ url: String, _ body: [UInt8], type: String = "application/ocsp-request"
    ) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: type)
        request.body = .bytes(ByteBuffer(bytes: body))
        return try await HTTPClient.shared.execute(request, timeout: .seconds(60))
    }

    @Test func goodUntilRevoked() async throws {
        try await APIBench.serving { bench in
            #expect(try await statuses(bench) == [.good, .good])
            #expect(try await bench.control(.PUT, "revoked/leaf").status == 204)
            #expect(try await statuses(bench) == [.revoked, .good])
            #expect(try await bench.control(.DELETE, "revoked/leaf").status == 204)
            #expect(try await bench.control(.DELETE, "revoked/leaf").status == 404)
            let authority = try OCSPResponder.serialNumbers(of: APIBench.authority.get())[1]
            #expect(try await bench.control(.PUT, "revoked/\(authority.uppercased())").status == 204)
            #expect(try await statuses(bench) == [.good, .revoked])
            let items = try #require(try await bench.control(.GET, "requests").json["items"] as? [[String: Any]])
            let lookups = items.filter { ($0["path"] as? String)?.hasPrefix("/ocsp03-") == true }
            #expect(lookups.allSatisfy { $0["authorized"] as? Bool == true && $0["body"] == nil })
            #expect(lookups.count == 8, "a revoked certificate is asked about twice")
        }
    }

    @Test(arguments: OCSPResponder.Answer.allCases.filter { $0 != .usual })
    func answersThatProveNothing(answer: OCSPResponder.Answer) async throws {
        try await APIBench.serving { bench in
            #expect(try await bench.control(.PUT, "ocsp", #"{"answer":"\#(answer)"}"#).status == 204)
            try await bench.control(.PUT, "revoked/leaf")
            for status in try await statuses(bench) { #expect(status != .good && status != .revoked) }
            #expect(try await bench.control(.DELETE, "ocsp").status == 204)
            #expect(try await statuses(bench) == [.revoked, .good])
        }
    }

    @Test func whatItDoesNotAnswer() async throws {
        try await APIBench.serving { bench in
            #expect(
                try await Self.post(bench.url + "/ocsp03-x", [1], type: "text/plain").status == .unsupportedMediaType)
            #expect(try await bench.call(.GET, "/ocsp03-x").status == 405)
            let malformed = try await Self.post(bench.url + "/ocsp03-x", [0x30, 0])
            #expect(try await Array(malformed.body.collect(upTo: 99).readableBytesView) == [0x30, 3, 0x0A, 1, 1])
            for (path, body) in [("revoked/root", ""), ("ocsp", "{}"), ("ocsp", #"{"answer":"maybe"}"#)] {
                #expect(try await bench.control(.PUT, path, body).status == 400, "\(path) \(body)")
            }
            #expect(try await bench.control(.GET, "ocsp").status == 405)
            #expect(try await bench.control(.POST, "revoked/leaf").status == 405)
        }
    }
}
