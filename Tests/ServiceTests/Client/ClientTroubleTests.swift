import Foundation
import RelayClient
import Testing

/// The client while things break: no purchase is lost, and none is sent twice.
@Suite struct ClientTroubleTests {
    @Test(.timeLimit(.minutes(1)))
    func aRelayThatIsKilledAndComesBackEndsNoWait() async throws {
        let settings = ["RELAY_HTTP_PORT": "\(try FixedPort.free())"]
        try await BadDay.run(settings: settings) { day in
            let relay = try await day.relay()
            try await day.control.behave("ana@example.test", "after-4s")
            let transport = WatchedTransport()
            let client = try relay.client(transport: transport)
            let ana = try await client.submit(Purchase("ana@example.test"))
            let waiting = Task {
                var states: [Validation.Status] = []
                for try await state in client.states(of: ana) { states.append(state.status) }
                return states
            }
            try await Task.sleep(for: .seconds(1))
            await relay.process.end()
            try await Awaiting.fact("the held poll has broken, and a further one found nobody") {
                transport.unanswered
            } holds: {
                $0 >= 2
            }
            _ = try await day.relay()
            #expect(try await waiting.value == [.pending, .granted])
            #expect(try await day.control.payments(of: "ana@example.test").count == 1)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func aPurchaseWhoseAnswerWasLostIsTakenOnce() async throws {
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

    /// A purchase that a relay may have taken before it died must not pass for one that was never sent.
    @Test(.timeLimit(.minutes(1)))
    func whatWentOutIsNotSaidToBeUnsent() async throws {
        let server = try DyingServer()
        let url = try #require(URL(string: server.url + "/apple/payment"))
        let transport = URLSessionTransport()
        // Now there is a connection that a next request may take.
        _ = try await transport.send(RelayRequest(method: "GET", url: url))
        let purchase = RelayRequest(method: "POST", url: url, body: TestPurchase(email: "ana@example.test").body)
        let error = await #expect(throws: URLError.self) { try await transport.send(purchase) }
        #expect(server.requests == 2)
        #expect(error?.code != .cannotConnectToHost, "\(error?.code.rawValue ?? 0)")
    }

    @Test(.timeLimit(.minutes(1)))
    func whereNobodyListensNothingWasTaken() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:\(try FixedPort.free())"))
        let client = RelayClient(baseURL: url, key: "k")
        let error = await #expect(throws: RelayError.self) { try await client.status(of: Probes.someID) }
        #expect(error?.code == .unreachable)
        #expect(error?.isRetryable == true)
        #expect(error?.mayHaveBeenTaken == false)
    }

    @Test(.timeLimit(.minutes(1)))
    func whoCancelsIsFreeAtOnceAndThePurchaseGoesOn() async throws {
        try await Setup.run(grantAfter: 2, settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "20"]) { setup in
            let client = try setup.relay.client()
            let (ids, teller) = AsyncStream.makeStream(of: String.self)
            let redeeming = Task {
                try await client.redeem(Purchase("ana@example.test")) { teller.yield($0.id) }
            }
            let id = try #require(await ids.first { _ in true })
            // The poll is held by now.
            try await Task.sleep(for: .milliseconds(300))
            let began = ContinuousClock.now
            redeeming.cancel()
            await #expect(throws: CancellationError.self) { try await redeeming.value }
            #expect(ContinuousClock.now - began < .seconds(1))

            // As the app's next start has it.
            var states: [Validation.Status] = []
            for try await state in client.states(of: id) { states.append(state.status) }
            #expect(states.last == .granted)
        }
    }
}
