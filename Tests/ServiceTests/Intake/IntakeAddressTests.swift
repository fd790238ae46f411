import Foundation
import Testing

/// The IP address that is sent upstream.
@Suite(.serialized) struct IntakeAddressTests {
    private static var hasIPv6: Bool {
        let interfaces = (try? String(contentsOfFile: "/proc/net/if_inet6", encoding: .utf8)) ?? ""
        return interfaces.contains("00000000000000000000000000000001 ")
    }

    /// The `ipAddress` that the simulator received for one purchase, which must be granted.
    private static func sent(_ setup: Setup, headers: [String: String] = [:], own: String? = nil) async throws
        -> String?
    {
        let email = "a\(UInt64.random(in: 0...UInt64.max))@example.test"
        var purchase = RawPurchase(email: email)
        if let own { purchase = purchase.with("ipAddress", text: own) }
        let pursued = try await setup.pursued(purchase, headers: headers)
        #expect(pursued.outcome["status"].string == "granted", "\(own ?? "") \(headers)")
        return pursued.forward["body"]["ipAddress"].string
    }

    @Test func withoutTrustedProxiesThePeersAddressCountsAndNoHeader() async throws {
        try await Setup.run { setup in
            for headers in [
                [:], ["X-Forwarded-For": "203.0.113.9"], ["X-Real-IP": "203.0.113.9"], ["Forwarded": "for=203.0.113.9"],
            ] {
                let address = try await Self.sent(setup, headers: headers)
                #expect(address == "127.0.0.1", "\(headers)")
            }
            // Cleeng's schema allows IPv6 only with all groups written out; the simulator answers 400 to any other
            // form.
            let own = [
                "203.0.113.9": "203.0.113.9", "::1": "0:0:0:0:0:0:0:1", "::": "0:0:0:0:0:0:0:0",
                "2001:db8::7": "2001:db8:0:0:0:0:0:7",
                "2001:DB8:0000:0000:0000:0000:0000:0abc": "2001:db8:0:0:0:0:0:abc",
                "fe80::1:2:3:4": "fe80:0:0:0:1:2:3:4", "64:ff9b::192.0.2.33": "64:ff9b:0:0:0:0:c000:221",
                "::ffff:192.0.2.1": "192.0.2.1", "1:2:3:4:5:6:7:8": "1:2:3:4:5:6:7:8",
                "1:2:3:4:5:6:7::": "1:2:3:4:5:6:7:0",
            ]
            for (address, expected) in own {
                let sent = try await Self.sent(setup, own: address)
                #expect(sent == expected, "\(address)")
            }
        }
    }

    @Test func trustedProxiesForwardedForIsReadFromTheRight() async throws {
        try await Setup.run(settings: ["RELAY_TRUSTED_PROXIES": "127.0.0.0/8, 10.0.0.0/8,2001:db8:aa::/48"]) { setup in
            let forwarded = [
                "203.0.113.9": "203.0.113.9",
                // Entries to the left of the first untrusted address may be forged.
                "198.51.100.1, 203.0.113.9": "203.0.113.9", "127.0.0.1, 203.0.113.9": "203.0.113.9",
                "203.0.113.9, 10.1.2.3": "203.0.113.9", "203.0.113.9,10.1.2.3 ,2001:db8:aa::5": "203.0.113.9",
                "6.6.6.6, 203.0.113.9, 10.255.0.1, 10.0.0.1": "203.0.113.9",
                "2001:db8::7": "2001:db8:0:0:0:0:0:7", "[2001:db8::7]:443": "2001:db8:0:0:0:0:0:7",
                "203.0.113.9:5123": "203.0.113.9", "::ffff:203.0.113.9": "203.0.113.9",
                // If the next entry is not an address, the last known address counts.
                "unknown": "127.0.0.1", "203.0.113.9, unknown": "127.0.0.1",
                "203.0.113.9, _hidden, 10.0.0.1": "10.0.0.1",
                "": "127.0.0.1", ",,,": "127.0.0.1", String(repeating: "x", count: 4_000): "127.0.0.1",
            ]
            for (header, expected) in forwarded {
                #expect(
                    try await Self.sent(setup, headers: ["X-Forwarded-For": header]) == expected, "\(header.prefix(60))"
                )
            }
            for other in ["X-Real-IP", "Forwarded", "X-Client-IP", "CF-Connecting-IP", "True-Client-IP"] {
                let sent = try await Self.sent(setup, headers: [other: "203.0.113.9"])
                #expect(sent == "127.0.0.1", "\(other)")
            }
            let headers = ["X-Forwarded-For": "203.0.113.9"]
            let own = try await Self.sent(setup, headers: headers, own: "198.51.100.77")
            #expect(own == "198.51.100.77")
        }
    }

    @Test(.enabled(if: hasIPv6)) func aPeerByIPv6IsForwardedWithAllItsGroups() async throws {
        try await Setup.run(settings: ["RELAY_HTTP_HOST": "::1"]) { setup in
            let url = setup.relay.url.replacingOccurrences(of: "127.0.0.1", with: "[::1]")
            let answer = try await HTTP.post(
                url + "/apple/payment",
                headers: ["Authorization": "Bearer \(setup.relay.keys.app)", "Content-Type": "application/json"],
                body: RawPurchase(email: "six@example.test").data)
            #expect(answer.status == 202)
            let id = try #require(answer.json["validationId"].string)
            let outcome = try await HTTP.get(
                "\(url)/entitlements/\(id)",
                headers: ["Authorization": "Bearer \(setup.relay.keys.app)", "Prefer": "wait=30"])
            #expect(outcome.json["status"].string == "granted")
            let forward = try await setup.simulator.requests(path: "/apple/payment").first
            #expect(forward?["body"]["ipAddress"].string == "0:0:0:0:0:0:0:1")
        }
    }
}
