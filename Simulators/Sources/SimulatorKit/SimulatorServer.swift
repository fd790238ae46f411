import ArgumentParser
import Foundation
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import ServiceLifecycle

/// A simulated service as seen by its HTTP server.
package protocol SimulatedService: Sendable {
    associatedtype Ticket: Sendable

    /// Longest body, in bytes.
    var bodyLimit: Int { get }

    /// Whether a path belongs to the control API.
    func isControl(_ segments: [String]) -> Bool

    func now() -> Date

    /// Executes a call of the control API.
    func control(_ call: Call) -> Reply

    /// Decides about any other call, including unknown addresses, so that all are logged.
    func begin(_ call: Call) -> Verdict<Ticket>

    /// Records how a call ended.
    func end(_ verdict: Verdict<Ticket>, outcome: CallOutcome, status: Int?)
}

/// The rules of a simulated service as a value, without HTTP, lock and clock.
package protocol SimulatedState: Sendable {
    static var bodyLimit: Int { get }
    /// First part of the control API's paths.
    static var controlPrefix: String { get }

    mutating func control(_ call: Call, at now: Date) throws(ControlFault) -> Reply
    mutating func begin(_ call: Call, at now: Date) -> Verdict<Void>
}

/// A simulated service that is one value behind one lock. Calls are logged when they begin.
package final class LockedService<State: SimulatedState>: SimulatedService {
    private let state: NIOLockedValueBox<State>
    private let clock: @Sendable () -> Date
    private let afterCall: @Sendable () -> Void

    /// - Parameter afterCall: called after every call, without the lock.
    package init(
        _ state: State, now: @escaping @Sendable () -> Date = { Date() },
        afterCall: @escaping @Sendable () -> Void = {}
    ) {
        self.state = NIOLockedValueBox(state)
        clock = now
        self.afterCall = afterCall
    }

    package var bodyLimit: Int { State.bodyLimit }
    package func isControl(_ segments: [String]) -> Bool { segments.first == State.controlPrefix }
    package func now() -> Date { clock() }
    package func end(_ verdict: Verdict<Void>, outcome: CallOutcome, status: Int?) {}

    package func begin(_ call: Call) -> Verdict<Void> {
        defer { afterCall() }
        return state.withLockedValue { $0.begin(call, at: clock()) }
    }

    package func control(_ call: Call) -> Reply {
        defer { afterCall() }
        return state.withLockedValue { state in
            do throws(ControlFault) {
                return try state.control(call, at: clock())
            } catch {
                return error.reply
            }
        }
    }

    /// Access for tasks beside the server.
    package func update<Value>(_ body: (inout State) -> Value) -> Value { state.withLockedValue { body(&$0) } }
}

/// The HTTP server of a simulated service.
package struct SimulatorServer<Service: SimulatedService>: Sendable {
    private let service: Service
    private let host: String
    private let port: Int
    private let background: [any ServiceLifecycle.Service]

    /// - Parameters:
    ///   - port: 0 for any free port.
    ///   - background: tasks beside the server.
    package init(
        _ service: Service, host: String = "127.0.0.1", port: Int = 0,
        background: [any ServiceLifecycle.Service] = []
    ) {
        self.service = service
        self.host = host
        self.port = port
        self.background = background
    }

    /// Serves until SIGTERM or SIGINT. Hanging requests are aborted within half a second of it.
    /// - Parameter onReady: called with the address, such as `http://127.0.0.1:8090`.
    package func run(onReady: @escaping @Sendable (String) -> Void) async throws {
        var logger = Logger(label: "simulator") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .critical
        let name = host.contains(":") ? "[\(host)]" : host
        var application = Application(
            responder: SimulatorResponder(service: service),
            server: .http1(configuration: .init(additionalChannelHandlers: [ConnectionGuard()])),
            configuration: .init(address: .hostname(host, port: port), serverName: nil, backlog: 4_096),
            onServerRunning: { channel in onReady("http://\(name):\(channel.localAddress?.port ?? 0)") },
            logger: logger)
        for service in background { application.addServices(service) }
        try await application.runService()
    }

    /// Serves as a program: prints its address, or why it cannot serve.
    /// - Parameters:
    ///   - name: such as `store-simulator google`; the program's name comes first.
    ///   - onReady: called with the address, before it is printed.
    package func run(as name: String, onReady: @escaping @Sendable (String) -> Void = { _ in }) async throws {
        do {
            try await run { address in
                onReady(address)
                try? StandardOutput.say("\(name) listening on \(address)")
            }
        } catch {
            try FileHandle.standardError.write(
                contentsOf: Data("\(name.prefix { $0 != " " }): cannot listen on \(host):\(port): \(error)\n".utf8))
            throw ExitCode.failure
        }
    }
}

package enum StandardOutput {
    /// Writes a line without buffering: a script reads it from a pipe, and the next line may be hours away.
    package static func say(_ line: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
    }
}

private struct SimulatorResponder<Service: SimulatedService>: HTTPResponder {
    typealias Context = SimulatorContext

    let service: Service

    func respond(to request: Request, context: SimulatorContext) async throws -> Response {
        let startedAt = service.now()
        var body: Data?
        do {
            body = Data(try await request.body.collect(upTo: service.bodyLimit).readableBytesView)
        } catch is NIOTooManyBytesError {}
        let call = Call(
            method: request.method.rawValue, path: request.uri.path, query: request.uri.query,
            headers: request.headers, host: request.head.authority, body: body, startedAt: startedAt)
        if service.isControl(call.segments) { return Response(service.control(call)) }
        let verdict = service.begin(call)
        if verdict.delayMilliseconds > 0, await !context.connection.wait(milliseconds: verdict.delayMilliseconds) {
            service.end(verdict, outcome: .clientLeft, status: nil)
            throw ConnectionGone()
        }
        let (outcome, status) = verdict.ending.outcome
        switch verdict.ending {
        case .answer(let reply):
            service.end(verdict, outcome: outcome, status: status)
            return Response(reply)
        case .hang:
            await context.connection.waitUntilClosed()
            service.end(verdict, outcome: outcome, status: nil)
        case .reset:
            service.end(verdict, outcome: outcome, status: nil)
            await context.connection.reset()
        }
        throw ConnectionGone()
    }
}
