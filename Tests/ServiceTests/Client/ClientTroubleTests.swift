import Foundation
import RelayClient
import TestRun
import Testing

/// The client while things break: no purchase is lost, and none is sent twice.
@Suite struct ClientTroubleTests {
    @Test(.timeLimit(.paced(minutes: 4)))
    func aWaitSurvivesARestartOfTheRelay() async throws {
        let settings = ["RELAY_HTTP_PORT": "\(try FixedPort.free())"]
        try await BadDay.run(settings: settings) { day in
            let relay = try await day.relay()
            try await day.control.behave("ana@example.test", "never")
            let transport = WatchedTransport()
            let client = try relay.client(transport: transport)
            let ana = try await client.submit(Purchase("ana@example.test"))
            let waiting = Task {
                var states: [RelayClient.Validation.Status] = []
                for try await state in client.states(of: ana) { states.append(state.status) }
                return states
            }
            // A kill between a forward and its record would rightly cause a second forward, so the kill comes later.
            try await Awaiting.fact("it was sent, and that is written") {
                try await relay.events(ana.id)
            } holds: {
                $0.contains("forwarded")
            }
            try await Awaiting.fact("a poll is held", is: 1) { try await relay.metric("http_server_held_polls") }
            await relay.process.end()
            try await Awaiting.fact("the held poll has broken, and a further one found nobody") {
                transport.unanswered
            } holds: {
                $0 >= 2
            }
            _ = try await day.relay()
            try await day.control.entitle("ana@example.test", to: "S123456789_US", status: "active")
            #expect(try await waiting.value == [.pending, .granted])
            #expect(try await day.control.payments(of: "ana@example.test").count == 1)
        }
    }

    @Test(.timeLimit(.paced(minutes: 4)))
    func aPurchaseWithALostAnswerIsAcceptedOnce() async throws {
        try await Setup.run(grantAfter: 0.3) { setup in
            let transport = WatchedTransport(losing: 2)
            let purchase = Purchase("ana@example.test")
            let outcome = try await setup.relay.client(transport: transport).redeem(purchase)
            guard case .granted = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(transport.statuses.count >= 3)
            #expect(try await setup.count("validations") == 1)
            #expect(try await SimulatorControl(setup.simulator).payments().count == 1)
        }
    }

    /// A purchase that a dying relay may have accepted must not count as unsent.
    @Test(.timeLimit(.paced(minutes: 4)))
    func aSentPurchaseIsNotReportedAsUnsent() async throws {
        let server = try DyingServer()
        let url = try #require(URL(string: server.url + "/apple/payment"))
        let transport = URLSessionTransport()
        // Opens a connection that the next request can reuse.
        _ = try await transport.send(RelayRequest(method: "GET", url: url))
        let purchase = RelayRequest(method: "POST", url: url, body: TestPurchase(email: "ana@example.test").body)
        let error = await #expect(throws: URLError.self) { try await transport.send(purchase) }
        #expect(server.requests == 2)
        #expect(error?.code != .cannotConnectToHost, "\(error?.code.rawValue ?? 0)")
    }

    @Test(.timeLimit(.paced(minutes: 4)))
    func withoutAServerThePurchaseIsUnsent() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:\(try FixedPort.free())"))
        let client = RelayClient(baseURL: url, key: "k")
        let error = await #expect(throws: RelayError.self) { try await client.status(of: Probes.someID) }
        #expect(error?.code == .unreachable)
        #expect(error?.isRetryable == true)
        #expect(error?.mayHaveBeenTaken == false)
    }

    @Test(.timeLimit(.paced(minutes: 4)))
    func aCancelledWaitEndsAtOnceAndThePurchaseContinues() async throws {
        try await Setup.run { setup in
            let control = SimulatorControl(setup.simulator)
            try await control.behave("ana@example.test", "never")
            let client = try setup.relay.client()
            let (ids, teller) = AsyncStream.makeStream(of: String.self)
            let redeeming = Task {
                try await client.redeem(Purchase("ana@example.test")) { teller.yield($0.id) }
            }
            let id = try #require(await ids.first { _ in true })
            try await Awaiting.fact("the poll is held", is: 1) {
                try await setup.relay.metric("http_server_held_polls")
            }
            redeeming.cancel()
            // Only the cancellation has ended the wait.
            await #expect(throws: CancellationError.self) { try await redeeming.value }
            #expect(try await setup.relay.poll(id).json["status"].string == "pending")
            try await control.entitle("ana@example.test", to: "S123456789_US", status: "active")

            // The same as at the app's next start.
            var states: [RelayClient.Validation.Status] = []
            for try await state in client.states(of: id) { states.append(state.status) }
            #expect(states.last == .granted)
        }
    }
}
