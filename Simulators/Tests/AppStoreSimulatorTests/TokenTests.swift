import Crypto
import Foundation
import NIOHTTP1
import TestRun
import Testing

@testable import AppStoreSimulator

@Suite("Who may ask the App Store Server API", .timeLimit(.paced(minutes: 4)))
struct TokenTests {
    private static let path = "/inApps/v1/subscriptions/1"

    @Test func whoHasTheKey() async throws {
        try await APIBench.serving { bench in
            try await bench.put("1")
            #expect(try await bench.call(.GET, Self.path).status == 200)
            let long = APIToken(at: bench.time.now) {
                $0.claims["exp"] = Int(bench.time.now.timeIntervalSince1970) + 3_600
            }
            #expect(try await bench.call(.GET, Self.path, authorization: "Bearer \(long.text())").status == 200)
            #expect(try await bench.call(.GET, Self.path, authorization: "bearer \(long.text())").status == 200)
        }
    }

    @Test func nobodyElse() async throws {
        try await APIBench.serving { bench in
            try await bench.put("1")
            let now = bench.time.now
            let seconds = Int(now.timeIntervalSince1970)
            let flaws: [(String, (inout APIToken) -> Void)] = [
                ("no algorithm", { $0.header["alg"] = "none" }), ("another algorithm", { $0.header["alg"] = "ES384" }),
                ("a shared secret", { $0.header["alg"] = "HS256" }),
                ("another key's id", { $0.header["kid"] = "OTHER" }),
                ("no key id", { $0.header["kid"] = nil }), ("another type", { $0.header["typ"] = "JOSE" }),
                ("no type", { $0.header["typ"] = nil }), ("another key", { $0.key = P256.Signing.PrivateKey() }),
                ("another issuer", { $0.claims["iss"] = "other" }), ("no issuer", { $0.claims["iss"] = nil }),
                ("another audience", { $0.claims["aud"] = "appstoreconnect-v2" }),
                ("no audience", { $0.claims["aud"] = nil }), ("no app", { $0.claims["bid"] = nil }),
                ("no beginning", { $0.claims["iat"] = nil }), ("no end", { $0.claims["exp"] = nil }),
                ("an end as a text", { $0.claims["exp"] = "\(seconds + 300)" }),
                ("an end that is now", { $0.claims["exp"] = seconds }),
                ("more than an hour", { $0.claims["exp"] = seconds + 3_601 }),
                ("from the future", { $0.claims["iat"] = seconds + 61 }),
                (
                    "an end before its beginning",
                    {
                        $0.claims["iat"] = seconds + 30
                        $0.claims["exp"] = seconds + 20
                    }
                ),
            ]
            for (name, flaw) in flaws {
                let text = try APIToken(at: now, flaw).text()
                let answer = try await bench.call(.GET, Self.path, authorization: "Bearer \(text)")
                #expect(answer.status == 401, "\(name)")
                #expect(answer.body.isEmpty, "\(name)")
            }
        }
    }

    @Test func noHeaderThatIsNone() async throws {
        try await APIBench.serving { bench in
            let good = try APIToken(at: bench.time.now).text()
            let parts = good.split(separator: ".")
            let other = try APIToken(at: bench.time.now) { $0.claims["bid"] = "other" }.text().split(separator: ".")
            let wrong = [
                "", "Bearer", "Bearer ", good, "Basic \(good)", "Bearer  \(good)", "Bearer \(good)=", "Bearer \(good).",
                "Bearer \(parts[0]).\(parts[1]).", "Bearer \(parts[0]).\(other[1]).\(parts[2])", "Bearer a.b.c",
            ]
            for header in wrong {
                #expect(
                    try await bench.call(.GET, Self.path, authorization: header).status == 401, "\(header.prefix(20))")
            }
            #expect(try await bench.send(.GET, Self.path, authorization: nil).status == 401)
            #expect(try await bench.send(.GET, "/nothing", authorization: nil).status == 401)
            #expect(try await bench.call(.GET, "/inApps/v1/nothing/1").status == 404)
        }
    }

    @Test func anotherAppFindsNothing() async throws {
        try await APIBench.serving { bench in
            try await bench.put("1")
            let other = try APIToken(at: bench.time.now) { $0.claims["bid"] = "com.example.other" }.text()
            let answer = try await bench.call(.GET, Self.path, authorization: "Bearer \(other)")
            #expect(answer.status == 404)
            #expect(answer.errorCode == 4_040_010)
        }
    }
}
