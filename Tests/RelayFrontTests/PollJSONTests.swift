import NIOCore
import RelayCore
import Testing

@testable import HTTPServer
@testable import Relay

@Suite("Polls as JSON")
struct PollJSONTests {
    @Test("a poll's answer has the contract's fields, in its order")
    func poll() {
        let validation = Fixtures.validation(status: .granted, settledAt: Timestamp(seconds: 1_700_000_030), late: true)
        #expect(
            String(buffer: validation.pollJSON)
                == #"{"validationId":"074b2400000000000000010000000000000002","status":"granted","accessGranted":true,"#
                + #""offerId":"S1_US","reason":null,"receivedAt":"2023-11-14T22:13:20.000Z","#
                + #""settledAt":"2023-11-14T22:13:50.000Z","deadline":"2023-11-14T22:14:20.000Z","late":true,"expiresAt":null}"#
        )
    }
}
