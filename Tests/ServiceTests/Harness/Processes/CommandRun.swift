import Foundation

/// One complete run of a command in a given folder, with separate outputs.
struct CommandRun: Sendable {
    var code: Int32
    var out: [String]
    var err: [String]
    /// Whether the command had to be stopped because it did not end by itself.
    var wasStopped: Bool

    static func relay(
        _ arguments: [String], environment: [String: String] = [:], folder: String = "/",
        limit: Duration = Awaiting.patience
    ) async throws -> CommandRun {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let (out, err) = (try scratch.write("out", ""), try scratch.write("err", ""))
        let program = ChildProcess.binaries.appendingPathComponent("receipt-relay").path
        var all = ["PATH": "/usr/bin:/bin", "HOME": NSTemporaryDirectory()]
        all.merge(ChildProcess.sealing) { $1 }
        all.merge(environment, uniquingKeysWith: { $1 })
        // The shell replaces itself with the program. It separates the outputs, which would share one pipe otherwise.
        let script = #"cd "$1" && out="$2" err="$3" && shift 3 && exec "$@" >"$out" 2>"$err""#
        let child = try Spawn("/bin/sh", ["-c", script, "sh", folder, out, err, program] + arguments, environment: all)
        let guardian = Task {
            try await Task.sleep(for: limit)
            kill(child.pid, SIGKILL)
        }
        let code = await withCheckedContinuation { continuation in
            child.watch { _ in
            } onExit: {
                continuation.resume(returning: $0)
            }
        }
        guardian.cancel()
        func lines(_ path: String) throws -> [String] {
            try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
        }
        return CommandRun(code: code, out: try lines(out), err: try lines(err), wasStopped: code == -SIGKILL)
    }
}
