import Foundation
import NIOConcurrencyHelpers

/// A program of the package in its own process, with its own environment. Its output is read line by line.
final class ChildProcess: Ends, Sendable {
    private struct State {
        var lines: [String] = []
        var pending = Data()
        var waiting: [(matches: @Sendable (String) -> Bool, continuation: CheckedContinuation<String?, Never>)] = []
        var exitCode: Int32?
        var exitWaiting: [CheckedContinuation<Int32, Never>] = []
        var isAtEnd = false
    }

    private let state = NIOLockedValueBox(State())
    let pid: pid_t

    /// Folder of the executables: beside the test bundle, or set by the caller.
    static var binaries: URL {
        if let folder = ProcessInfo.processInfo.environment["RELAY_BIN_DIR"] { return URL(fileURLWithPath: folder) }
        return URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
    }

    /// With RELAY_TEST_ENCRYPTION_KEYS, every relay of every test seals its database.
    static let sealing: [String: String] =
        ProcessInfo.processInfo.environment["RELAY_TEST_ENCRYPTION_KEYS"].map {
            ["RELAY_ENCRYPTION_KEYS": $0]
        } ?? [:]

    /// - Parameter program: program of the package, or of the machine if it is a path.
    init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        var all = ["PATH": "/usr/bin:/bin", "HOME": NSTemporaryDirectory()]
        all.merge(Self.sealing) { $1 }
        all.merge(environment, uniquingKeysWith: { $1 })
        let path = program.hasPrefix("/") ? program : Self.binaries.appendingPathComponent(program).path
        let child = try Spawn(path, arguments, environment: all)
        pid = child.pid
        child.watch { [state] data in
            Self.take(data, into: state)
        } onExit: { [state] code in
            CrashReport.tell(program, code, state.withLockedValue { $0.lines })
            let waiting = state.withLockedValue { state in
                state.exitCode = code
                defer { state.exitWaiting = [] }
                return state.exitWaiting
            }
            for continuation in waiting { continuation.resume(returning: code) }
        }
    }

    private static func take(_ data: Data, into state: NIOLockedValueBox<State>) {
        let woken = state.withLockedValue { state -> [(CheckedContinuation<String?, Never>, String?)] in
            state.isAtEnd = data.isEmpty
            state.pending.append(data)
            var woken: [(CheckedContinuation<String?, Never>, String?)] = []
            while let end = state.pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: state.pending[state.pending.startIndex..<end], as: UTF8.self)
                state.pending.removeSubrange(state.pending.startIndex...end)
                state.lines.append(line)
                state.waiting.removeAll { waiter in
                    guard waiter.matches(line) else { return false }
                    woken.append((waiter.continuation, line))
                    return true
                }
            }
            if state.isAtEnd {
                woken += state.waiting.map { ($0.continuation, nil) }
                state.waiting = []
            }
            return woken
        }
        for (continuation, line) in woken { continuation.resume(returning: line) }
    }

    var output: [String] { state.withLockedValue { $0.lines } }

    /// The first matching line, past or future; `nil` if the output ends without one.
    func line(where matches: @escaping @Sendable (String) -> Bool) async -> String? {
        await withCheckedContinuation { continuation in
            let known: String?? = state.withLockedValue { state in
                if let line = state.lines.first(where: matches) { return .some(line) }
                if state.isAtEnd { return .some(nil) }
                state.waiting.append((matches, continuation))
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Waits for a line with all the parts. A line may be read after the answer of the request that it is about.
    func says(_ parts: String...) async throws {
        try await Awaiting.fact("the output says \(parts)", is: true) {
            output.contains { line in parts.allSatisfy(line.contains) }
        }
    }

    /// The exit code; negative for the number of a signal.
    func exitCode() async -> Int32 {
        await withCheckedContinuation { continuation in
            let known: Int32? = state.withLockedValue { state in
                if let code = state.exitCode { return code }
                state.exitWaiting.append(continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    func signal(_ number: Int32) {
        guard state.withLockedValue({ $0.exitCode }) == nil else { return }
        kill(pid, number)
    }

    /// Kills the process and waits for its end.
    func end() async {
        signal(SIGKILL)
        _ = await exitCode()
    }

    /// Runs the program to its end.
    static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> (code: Int32, output: [String]) {
        let child = try ChildProcess(program, arguments, environment: environment)
        let code = await child.exitCode()
        // The output may end after the process.
        _ = await child.line { _ in false }
        return (code, child.output)
    }
}
