import Foundation

/// One run of a command to its end, in a folder of its choice, with its two outputs apart.
struct CommandRun: Sendable {
    var code: Int32
    var out: [String]
    var err: [String]
    /// It had to be stopped: what should end by itself went on.
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
        // The shell becomes the program; a pipe for both outputs is all that would be there otherwise.
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
