import NIOCore
import NIOHTTP1
import NIOSSL
import ReceiverSupport
import TestRun
import Testing

@testable import OutboundHTTP

/// Kept connections over real sockets. Every call has a deadline of its own, so that an error fails the test instead of
/// blocking it.
@Suite(.timeLimit(.paced(minutes: 1)))
struct KeptConnectionsTests {
    private static let patience = Duration.seconds(20)

    private func withServer<Answer>(
        limit: Int = 8, keepAlive: Duration = .seconds(60), tls: ServerCredentials? = nil,
        trust: TLSConfiguration? = nil,
        connectTimeout: Duration = .seconds(5),
        _ test: (AnsweringServer, KeptConnections) async throws -> Answer
    ) async throws -> Answer {
        let server = try await AnsweringServer(tls: tls?.context)
        let connections = KeptConnections(
            connectTimeout: connectTimeout, connectionsPerHost: limit, keepAlive: keepAlive,
            tls: trust ?? .makeClientConfiguration())
        do {
            let answer = try await test(server, connections)
            connections.shutDown()
            try await server.close()
            return answer
        } catch {
            connections.shutDown()
            try? await server.close()
            throw error
        }
    }

    /// The answer's body, or the error as text.
    private func call(
        _ connections: KeptConnections, _ url: String, within time: Duration = patience, body: ByteBuffer? = nil
    ) async -> Result<String, OutboundError> {
        let request = OutboundRequest(url: url, method: body == nil ? .GET : .POST, body: body)
        do {
            let reply = try await HTTPExchange(connections, by: .now + time, atMost: 1_000).send(request)
            return reply.body.map { String(buffer: $0) }
        } catch {
            return .failure(error)
        }
    }

    private func call(
        _ server: AnsweringServer, _ connections: KeptConnections, _ path: String, within time: Duration = patience
    ) async -> Result<String, OutboundError> {
        await call(connections, "http://127.0.0.1:\(server.port)\(path)", within: time)
    }

    /// Waits for a condition, and fails if it does not become true.
    private func wait(
        for what: Comment, location: SourceLocation = #_sourceLocation, _ fact: () -> Bool
    ) async throws {
        let end = ContinuousClock.now + Self.patience
        while !fact() {
            guard ContinuousClock.now < end else {
                Issue.record(what, sourceLocation: location)
                throw CancellationError()
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    @Test func callsUseOneConnectionAgain() async throws {
        try await withServer { server, connections in
            for number in 1...20 { #expect(await call(server, connections, "/\(number)") == .success("/\(number)")) }
            #expect(server.seen.connections == 1)
        }
    }

    @Test func twoHostsShareNoConnection() async throws {
        try await withServer { first, connections in
            try await withServer { second, _ in
                #expect(await call(first, connections, "/1") == .success("/1"))
                #expect(await call(second, connections, "/2") == .success("/2"))
                #expect(first.seen.requests == ["/1"] && second.seen.requests == ["/2"])
            }
        }
    }

    @Test func aServerThatClosesIsConnectedToAgain() async throws {
        try await withServer { server, connections in
            for _ in 1...3 { #expect(await call(server, connections, "/close") == .success("/close")) }
            #expect(server.seen.connections == 3)
        }
    }

    @Test func aConnectionClosedWhileIdleLeavesThePool() async throws {
        try await withServer { server, connections in
            #expect(await call(server, connections, "/1") == .success("/1"))
            #expect(connections.connectionCount == 1)
            server.dropConnections()
            try await wait(for: "the closed connection left the pool") { connections.connectionCount == 0 }
            #expect(await call(server, connections, "/2") == .success("/2"))
            #expect(server.seen.requests == ["/1", "/2"])
        }
    }

    @Test func anIdleConnectionIsClosedAfterAWhile() async throws {
        try await withServer(keepAlive: .milliseconds(50)) { server, connections in
            #expect(await call(server, connections, "/1") == .success("/1"))
            try await wait(for: "the idle connection is closed") {
                connections.connectionCount == 0 && server.seen.openConnections == 0
            }
        }
    }

    @Test func manyCallsShareFewConnections() async throws {
        try await withServer(limit: 2) { server, connections in
            let answers = await withTaskGroup(of: Bool.self) { group in
                for number in 1...100 {
                    group.addTask { await call(server, connections, "/\(number)") == .success("/\(number)") }
                }
                return await group.reduce(into: 0) { count, isRight in count += isRight ? 1 : 0 }
            }
            #expect(answers == 100)
            #expect(server.seen.mostOpenConnections <= 2 && server.seen.connections <= 2)
        }
    }

    @Test func nobodyListens() async throws {
        try await withPortOfNobody { port in
            let connections = KeptConnections(connectionsPerHost: 3)
            let refused = await withTaskGroup(of: Bool.self) { group in
                for _ in 1...10 {
                    group.addTask {
                        await call(connections, "http://127.0.0.1:\(port)/") == .failure(.connectionFailed)
                    }
                }
                return await group.reduce(into: 0) { count, isRight in count += isRight ? 1 : 0 }
            }
            #expect(refused == 10)
            #expect(connections.connectionCount == 0)
        }
    }

    @Test(arguments: ["", "ftp://a/", "http://a b/", "http://127.0.0.1:1/a b"])
    func whatIsNoAddressIsNotCalled(url: String) async {
        #expect(await call(KeptConnections(), url) == .failure(.connectionFailed))
    }

    // MARK: Scripted servers

    private func scripted(
        _ steps: [RawStep], within time: Duration = patience, body: ByteBuffer? = nil
    ) async throws -> Result<String, OutboundError> {
        try await withRawServer(steps) { url in
            let connections = KeptConnections()
            defer { connections.shutDown() }
            return await call(connections, url, within: time, body: body)
        }
    }

    @Test func halfAnAnswer() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
        #expect(try await scripted([.write("HTTP/1.1 2"), .close]) == .failure(.connectionClosed))
        #expect(try await scripted([.write(head + "{"), .close]) == .failure(.connectionClosed))
        #expect(try await scripted([.write("HTTP/1.1 200 OK\r\n\r\nabc"), .close]) == .success("abc"))
    }

    @Test func anAnswerBeyondTheBoundKeepsItsStatus() async throws {
        let reply = try await withRawServer([.write("HTTP/1.1 503 No\r\nContent-Length: 1001\r\n\r\n")]) { url in
            let connections = KeptConnections()
            defer { connections.shutDown() }
            return try await HTTPExchange(connections, by: .now + Self.patience, atMost: 1_000)
                .send(OutboundRequest(url: url))
        }
        #expect(reply.status == 503 && reply.body == .failure(.responseTooLarge))
    }

    // MARK: Deadlines

    @Test func theDeadlineCoversTheAnswer() async throws {
        #expect(try await scripted([], within: .milliseconds(200)) == .failure(.timeout))
        let steps: [RawStep] = [.write("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n"), .trickle]
        #expect(try await scripted(steps, within: .milliseconds(200)) == .failure(.timeout))
    }

    @Test func theDeadlineCoversTheWaitForAConnection() async throws {
        try await withServer(limit: 1) { server, connections in
            async let hanging = call(server, connections, "/hang", within: .seconds(2))
            try await wait(for: "the first call is under way") { server.seen.requests == ["/hang"] }
            #expect(await call(server, connections, "/1", within: .milliseconds(100)) == .failure(.timeout))
            #expect(await hanging == .failure(.timeout))
            #expect(await call(server, connections, "/2") == .success("/2"))
            #expect(server.seen.requests == ["/hang", "/2"], "the call that was given up was not sent")
        }
    }

    @Test func theDeadlineCoversAServerThatDoesNotRead() async throws {
        let body = ByteBuffer(repeating: 0x20, count: 32 << 20)
        let server = try await withRawServer([]) { url in
            let connections = KeptConnections()
            defer { connections.shutDown() }
            return await call(connections, url, within: .milliseconds(500), body: body)
        }
        #expect(server == .failure(.timeout))
    }

    /// A handshake ends by the connect timeout or by the call's deadline, whichever is first.
    @Test(arguments: [(Duration.milliseconds(200), Duration.seconds(20)), (.seconds(5), .milliseconds(200))])
    func theDeadlineCoversTheHandshake(connect: Duration, deadline: Duration) async throws {
        let result = try await withRawServer([]) { url in
            let connections = KeptConnections(connectTimeout: connect)
            defer { connections.shutDown() }
            return await call(connections, url.replacing("http:", with: "https:"), within: deadline)
        }
        #expect(result == .failure(.timeout))
    }

    @Test func whatIsTooLateIsNotSent() async throws {
        try await withServer { server, connections in
            for time in [Duration.zero, .seconds(-1)] {
                #expect(await call(server, connections, "/1", within: time) == .failure(.timeout))
            }
            #expect(await call(server, connections, "/2") == .success("/2"))
            #expect(server.seen.requests == ["/2"])
        }
    }

    // MARK: Cancellation

    @Test func aCancelledCallEndsWhereverItIs() async throws {
        try await withServer(limit: 1) { server, connections in
            let sent = Task { await call(server, connections, "/hang") }
            try await wait(for: "the first call is under way") { server.seen.requests == ["/hang"] }
            let waiting = Task { await call(server, connections, "/1") }
            let early = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await call(server, connections, "/2")
            }
            #expect(await early.value == .failure(.cancelled))
            waiting.cancel()
            #expect(await waiting.value == .failure(.cancelled))
            sent.cancel()
            #expect(await sent.value == .failure(.cancelled))
            #expect(await call(server, connections, "/3") == .success("/3"))
            #expect(server.seen.requests == ["/hang", "/3"])
        }
    }

    @Test func theEndOfThePoolEndsItsCalls() async throws {
        try await withServer(limit: 2) { server, connections in
            let calls = (1...4).map { _ in Task { await call(server, connections, "/hang") } }
            try await wait(for: "two calls are under way") { server.seen.requests.count == 2 }
            connections.shutDown()
            for under in calls { #expect(await under.value == .failure(.cancelled)) }
            #expect(await call(server, connections, "/1") == .failure(.cancelled))
            #expect(await call(connections, "http://127.0.0.1:9/") == .failure(.cancelled))
            try await wait(for: "all connections are closed") { server.seen.openConnections == 0 }
        }
    }

    // MARK: TLS

    @Test func tlsAsksForTheHostByName() async throws {
        let credentials = try ServerCredentials(named: "localhost")
        try await withServer(tls: credentials, trust: credentials.trust) { server, connections in
            for number in 1...2 {
                let url = "https://localhost:\(server.port)/\(number)"
                #expect(await call(connections, url) == .success("/\(number)"))
            }
            #expect(server.seen.connections == 1 && server.seen.names == ["localhost"])
            server.dropConnections()
            try await wait(for: "the closed connection left the pool") { connections.connectionCount == 0 }
        }
    }

    @Test func aCertificateForAnotherNameIsRefused() async throws {
        let credentials = try ServerCredentials(named: "other.example.test")
        try await withServer(tls: credentials, trust: credentials.trust) { server, connections in
            #expect(await call(connections, "https://localhost:\(server.port)/") == .failure(.tls))
            #expect(await call(connections, "https://127.0.0.1:\(server.port)/") == .failure(.tls))
            #expect(server.seen.requests.isEmpty && connections.connectionCount == 0)
        }
    }

    @Test func anUntrustedCertificateIsRefused() async throws {
        let credentials = try ServerCredentials(named: "localhost")
        try await withServer(tls: credentials) { server, connections in
            #expect(await call(connections, "https://localhost:\(server.port)/") == .failure(.tls))
            #expect(server.seen.requests.isEmpty)
        }
    }

    @Test func aServerWithoutTLS() async throws {
        try await withServer { server, connections in
            #expect(await call(connections, "https://127.0.0.1:\(server.port)/") == .failure(.tls))
        }
    }
}
