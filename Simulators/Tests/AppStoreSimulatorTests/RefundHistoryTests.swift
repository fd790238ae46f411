import Foundation
import NIOHTTP1
import Testing

@testable import AppStoreSimulator

@Suite struct RefundHistoryTests {
    private func page(_ id: String, _ revision: String? = nil, _ bench: APIBench) async throws -> Answer {
        let query = revision.map { "?revision=\($0)" } ?? ""
        return try await bench.call(.GET, "/inApps/v2/refund/lookup/\(id)\(query)")
    }

    @Test func allRefundsOfASubscriptionAreToldPageByPage() async throws {
        try await APIBench.serving(pageSize: 2) { bench in
            #expect(try await page("1", nil, bench).errorCode == 4_040_010)
            for name in 1...3 { try await bench.add(try bench.notification(name, at: Double(name), type: "REFUND")) }
            try await bench.add(try bench.notification(4, type: "DID_RENEW"))
            try await bench.add(try bench.notification(5, type: "REFUND", about: "2"))
            let first = try await page("1", nil, bench)
            #expect((first.json["signedTransactions"] as? [String])?.count == 2)
            #expect(first.json["hasMore"] as? Bool == true)
            let revision = try #require(first.json["revision"] as? String)
            // By any of its transactions.
            let second = try await page("13", revision, bench)
            let last = try #require(second.json["signedTransactions"] as? [String])
            #expect(last.map { Answer.payload($0)["transactionId"] as? String } == ["13"])
            #expect(second.json["hasMore"] as? Bool == false)
            #expect(try await page("1", "x", bench).errorCode == 4_000_005)
        }
    }

    @Test func withoutRefundsThereAreNone() async throws {
        try await APIBench.serving { bench in
            try await bench.put("1")
            let answer = try await page("1", nil, bench)
            #expect(answer.status == 200)
            #expect((answer.json["signedTransactions"] as? [String])?.isEmpty == true)
        }
    }
}
