import Formats
import Testing

@testable import HTTPServer

@Suite("The client's address")
struct ClientAddressTests {
    private let trusted = ["10.0.0.0/8", "192.0.2.7", "2001:db8::/32"].compactMap { AddressRange($0) }

    private func find(_ peer: String, _ forwardedFor: String?) -> String? {
        ClientAddress.find(peer: IPAddress(peer), forwardedFor: forwardedFor, trusted: trusted)?.description
    }

    @Test("a peer that is no proxy has its own address, whatever it claims")
    func untrustedPeer() {
        #expect(find("198.51.100.1", "203.0.113.9") == "198.51.100.1")
        #expect(find("10.1.1.1", nil) == "10.1.1.1")
        #expect(ClientAddress.find(peer: nil, forwardedFor: "203.0.113.9", trusted: trusted) == nil)
    }

    @Test("the rightmost address that is no proxy's counts, since the client may forge those before it")
    func chains() {
        #expect(find("10.1.1.1", "203.0.113.9") == "203.0.113.9")
        #expect(find("10.1.1.1", "1.2.3.4, 203.0.113.9, 192.0.2.7") == "203.0.113.9")
        #expect(find("::ffff:10.1.1.1", "1.2.3.4,203.0.113.9 , 10.9.9.9") == "203.0.113.9")
        #expect(find("2001:db8::5", "[2001:db9::1]:443") == "2001:db9::1")
        #expect(find("10.1.1.1", "203.0.113.9:1234") == "203.0.113.9")
    }

    @Test("all trusted: the leftmost. Invalid: the last valid one")
    func edges() {
        #expect(find("10.1.1.1", "10.2.2.2, 10.3.3.3") == "10.2.2.2")
        #expect(find("10.1.1.1", "203.0.113.9, unknown, 10.3.3.3") == "10.3.3.3")
        #expect(find("10.1.1.1", "") == "10.1.1.1")
        #expect(find("10.1.1.1", ",,,") == "10.1.1.1")
        #expect(find("10.1.1.1", String(repeating: "10.2.2.2,", count: 100_000)) != nil)
    }

    @Test(
        "no combining mark of a client hides the comma that a proxy adds",
        arguments: ["\u{600}", "\u{70F}", "\u{110BD}", "\u{301}"])
    func marks(_ mark: String) {
        #expect(find("10.1.1.1", "[6.6.6.7]\(mark), 203.0.113.9") == "203.0.113.9")
        #expect(find("10.1.1.1", "6.6.6.7\(mark),203.0.113.9") == "203.0.113.9")
        #expect(find("10.1.1.1", "6.6.6.7,\(mark)203.0.113.9") == "10.1.1.1")
        #expect(find("10.1.1.1", "6.6.6.7, 203.0.113.9\(mark)") == "10.1.1.1")
    }

    @Test(
        "an address followed by more than a port is invalid",
        arguments: [
            "203.0.113.9 x", "203.0.113.9:", "203.0.113.9:12a", "203.0.113.9:123456", "[2001:db9::1]x",
            "[2001:db9::1]:",
            "[2001:db9::1]:x", "[2001:db9::1", "2001:db9::1]", "[203.0.113.9]]", "203.0.113.9]:1", "[]", ":1",
        ])
    func more(_ entry: String) {
        #expect(find("10.1.1.1", "6.6.6.7, \(entry)") == "10.1.1.1")
    }

    @Test("ranges are exact to the bit")
    func ranges() throws {
        let range = try #require(AddressRange("192.0.2.128/25"))
        #expect(range.contains(try #require(IPAddress("192.0.2.128"))))
        #expect(range.contains(try #require(IPAddress("::ffff:192.0.2.255"))))
        #expect(!range.contains(try #require(IPAddress("192.0.2.127"))))
        #expect(!range.contains(try #require(IPAddress("2001:db8::1"))))
        let all = try #require(AddressRange("0.0.0.0/0"))
        #expect(all.contains(try #require(IPAddress("203.0.113.9"))))
    }

    @Test(
        "invalid ranges are refused",
        arguments: ["", "/8", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0/8", "::/129", "x", "10.0.0.0/8/8"])
    func noRange(_ text: String) {
        #expect(AddressRange(text) == nil)
    }
}
