import Formats
import RelayCore
import Testing

@testable import Webhooks

@Suite("Which addresses may be called")
struct AddressPolicyTests {
    private static let within = [
        "0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "168.63.129.16",
        "169.254.169.254", "172.16.0.1",
        "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.7", "203.0.113.9",
        "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1",
        "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1",
        "2002:7f00:1::1", "3fff::1", "5f00::1", "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1",
    ]

    @Test("none that only this machine or its network can reach", arguments: within)
    func refused(text: String) throws {
        #expect(AddressPolicy().allows(try #require(IPAddress(text))) == false)
    }

    @Test(
        "those of the public internet",
        arguments: ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8"])
    func allowed(text: String) throws {
        #expect(AddressPolicy().allows(try #require(IPAddress(text))))
    }

    @Test("a range that the configuration adds, and nothing beside it")
    func added() throws {
        let policy = AddressPolicy(allowing: [
            try #require(AddressRange("127.0.0.0/8")), try #require(AddressRange("fd00::/8")),
        ])
        for text in ["127.0.0.1", "::ffff:127.0.0.1", "fd00::1"] {
            #expect(policy.allows(try #require(IPAddress(text))))
        }
        for text in ["10.0.0.1", "::1", "fc00::1"] { #expect(!policy.allows(try #require(IPAddress(text)))) }
    }

    @Test(
        "unusual spellings mean the address that the system would call",
        arguments: ["127.1", "0x7f.1", "0x7f000001", "2130706433", "017700000001", "127.0.0.1", "localhost"])
    func spellings(host: String) {
        let found = HostLookup.addresses(of: host) ?? []
        #expect(found.contains { $0.description == "127.0.0.1" })
        #expect(!found.contains(where: AddressPolicy().allows))
    }

    @Test(
        "what is no address for messages",
        arguments: [
            "", "shop.example.com", "ftp://a.example", "http://", "https://user@a.example/", "https://u:p@a.example/",
            "https://a.example/#f", "https://a.example:0/", "https://a.example:65536/", "https://a b.example/",
            "http://[fe80::1%25eth0]/", "http://%31%32%37.0.0.1/", "http://a.example\\@b.example/", "unix:///tmp/x",
            "http://\u{661}.example/",
        ])
    func badURLs(text: String) { #expect(WebhookURL(text) == nil) }

    @Test(
        "what is one",
        arguments: [
            "https://a.example", "http://a.example:8080/x?y=z", "https://[2606:4700::1]:8443/h", "HTTP://127.1/",
        ])
    func goodURLs(text: String) { #expect(WebhookURL(text) != nil) }
}
