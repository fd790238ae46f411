import NIOCore
import Testing

import struct RelayCore.Identifier

@testable import Cleeng

struct ConfigurationTests {
    private func make(
        token: String = "t", payment: String = "https://pay.test", api: String = "https://api.test",
        timeout: Duration = .seconds(1), bytes: Int = 4096, connections: Int = 1
    ) throws(CleengConfigurationError) -> CleengConfiguration {
        try CleengConfiguration(
            publisherToken: Secret(token), paymentURL: payment, apiURL: api, upstreamTimeout: timeout,
            maxResponseBytes: bytes, connectionsPerHost: connections)
    }

    @Test(arguments: ["", " ", "a b", "a\r\nX-Evil: 1", "é", String(repeating: "x", count: 513)])
    func aTokenThatIsNoHeaderIsRefusedWithoutBeingShown(token: String) {
        let error = #expect(throws: CleengConfigurationError.publisherToken) { try make(token: token) }
        #expect(error?.description.contains("X-Evil") == false)
    }

    @Test(arguments: [
        "", "api.test", "ftp://api.test", "https://", "https:///path", "https://user:pass@api.test",
        "https://api.test?a=b",
        "https://api.test#x", "https://api test", "https://api.test\n", "file:///etc/passwd",
        "https://api.test:0", "https://api.test:99999",
    ])
    func aURLThatCannotBeABaseIsRefused(url: String) {
        #expect(throws: CleengConfigurationError.paymentURL) { try make(payment: url) }
        #expect(throws: CleengConfigurationError.apiURL) { try make(api: url) }
    }

    @Test func trailingSlashesAreDropped() throws {
        #expect(try make(payment: "HTTPS://pay.test:8443/base//").paymentURL == "HTTPS://pay.test:8443/base")
    }

    @Test func boundsAreHeld() {
        #expect(throws: CleengConfigurationError.upstreamTimeout) { try make(timeout: .zero) }
        #expect(throws: CleengConfigurationError.maxResponseBytes) { try make(bytes: 10) }
        #expect(throws: CleengConfigurationError.connectionsPerHost) { try make(connections: 0) }
    }

    @Test func noWayOfPrintingShowsASecret() throws {
        let configuration = try make(token: "hidden-token")
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), dumped, "\(configuration.publisherToken)"] {
            #expect(text.contains("***"))
            #expect(!text.contains("hidden"))
        }
        var payment = ""
        dump(CleengTests.payment, to: &payment)
        for text in ["\(CleengTests.payment)", String(reflecting: CleengTests.payment), payment] {
            #expect(!text.contains("ana") && !text.contains("MIIT"))
        }
    }

    @Test func aTagsFileIsReadAndHeldToItsBounds() throws {
        #expect(
            try TagsFile.parse(#"{"S1_US":["sport","news"],"S2":["x"]}"#) == ["S1_US": ["sport", "news"], "S2": ["x"]])
        for text in ["", "[]", "{", #"{"S1":"sport"}"#, #"{"S1":[1]}"#, #"{"S1":null}"#] {
            #expect(throws: TagsFileError.notAnObject) { try TagsFile.parse(text) }
        }
        for (text, offer) in [(#"{"S1":[]}"#, "S1"), (#"{"S1":[""]}"#, "S1"), (#"{"":["x"]}"#, "")] as [(_, OfferID)] {
            #expect(throws: TagsFileError.offer(offer)) { try TagsFile.parse(text) }
        }
        let many = (0...10_000).map { #""S\#($0)":["x"]"# }.joined(separator: ",")
        #expect(throws: TagsFileError.tooLarge) { try TagsFile.parse("{\(many)}") }
    }
}
