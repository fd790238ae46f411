import AppStoreSimulation
import Foundation
import NIOHTTP1
import Testing

@testable import AppStoreSimulator

@Suite struct ConsumptionTests {
    private static let good = #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED"}"#

    private func put(_ id: String, _ body: String, _ bench: APIBench) async throws -> Answer {
        try await bench.call(.PUT, "/inApps/v2/transactions/consumption/\(id)", body)
    }

    @Test func whatIsToldIsKept() async throws {
        try await APIBench.serving { bench in
            #expect(try await put("1", Self.good, bench).errorCode == 4_040_010)
            try await bench.put("1")
            let answer = try await put("1", Self.good, bench)
            #expect(answer.status == 202)
            #expect(answer.body.isEmpty)
            let items = try await bench.control(.GET, "consumption").json["items"] as? [[String: Any]]
            #expect(items?.count == 1)
            #expect(items?.first?["transactionId"] as? String == "1")
            let told = items?.first?["told"] as? [String: Any]
            #expect(told?["deliveryStatus"] as? String == "DELIVERED")
        }
    }

    @Test(arguments: [
        (#"{"customerConsented":false,"sampleContentProvided":false,"deliveryStatus":"DELIVERED"}"#, 4_000_035),
        (#"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"LOST"}"#, 4_000_036),
        (#"{"customerConsented":true,"deliveryStatus":"DELIVERED"}"#, 4_000_041),
        (
            #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED","refundPreference":"NO"}"#,
            4_000_044
        ),
        (
            #"{"customerConsented":true,"sampleContentProvided":false,"deliveryStatus":"DELIVERED","consumptionPercentage":5}"#,
            4_000_209
        ),
        ("{", 4_000_000),
    ]) func whatBreaksApplesRulesIsRefused(body: String, code: Int) async throws {
        try await APIBench.serving { bench in
            try await bench.put("1")
            let answer = try await put("1", body, bench)
            #expect(answer.status == 400)
            #expect(answer.errorCode == code)
        }
    }

    @Test func aConsumableIsKnownByWhatWasToldOfIt() async throws {
        try await APIBench.serving { bench in
            var told = try bench.notification(1, type: "CONSUMPTION_REQUEST")
            told.consumptionRequestReason = "LEGAL"
            told.transaction?.type = "Consumable"
            try await bench.add(told)
            let percent = Self.good.dropLast() + #","consumptionPercentage":100001}"#
            #expect(try await put("11", String(percent), bench).errorCode == 4_000_000)
            let part = Self.good.dropLast() + #","consumptionPercentage":500,"refundPreference":"GRANT_PRORATED"}"#
            #expect(try await put("11", String(part), bench).status == 202)
        }
    }
}
