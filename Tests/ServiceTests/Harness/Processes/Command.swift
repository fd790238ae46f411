import Foundation
import NIOConcurrencyHelpers

/// A program of the system; its output is dropped.
final class Command: Sendable {
    private struct State {
        var exitCode: Int32?
        var waiting: [CheckedContinuation<Int32, Never>] = []
    }

    private let state = NIOLockedValueBox(State())
    private let pid: pid_t

    init(_ program: String, _ arguments: [String]) throws {
        let child = try Spawn(program, arguments, environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"])
        pid = child.pid
        child.watch(
            onOutput: { _ in },
            onExit: { [state] code in
                let waiting = state.withLockedValue { state in
                    state.exitCode = code
                    defer { state.waiting = [] }
                    return state.waiting
                }
                for continuation in waiting { continuation.resume(returning: code) }
            })
    }

    /// PostgreSQL refuses to run as root.
    convenience init(asServerUser program: String, _ arguments: [String]) throws {
        if getuid() == 0 {
            let user = ["--reuid=postgres", "--regid=postgres", "--init-groups"]
            try self.init("/usr/bin/setpriv", user + [program] + arguments)
        } else {
            try self.init(program, arguments)
        }
    }

    static func run(_ program: String, _ arguments: [String]) async throws {
        try await Command(program, arguments).succeed(program)
    }

    static func run(asServerUser program: String, _ arguments: [String]) async throws {
        try await Command(asServerUser: program, arguments).succeed(program)
    }

    private func succeed(_ name: String) async throws {
        let code = await exitCode()
        guard code == 0 else { throw HarnessError.failed(name, ["exit code \(code)"]) }
    }

    func exitCode() async -> Int32 {
        await withCheckedContinuation { continuation in
            let known: Int32? = state.withLockedValue { state in
                if let code = state.exitCode { return code }
                state.waiting.append(continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    func signal(_ number: Int32) {
        guard state.withLockedValue({ $0.exitCode }) == nil else { return }
        kill(pid, number)
    }
}
