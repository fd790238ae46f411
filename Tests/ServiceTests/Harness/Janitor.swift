import Foundation

/// Ends a cluster's server and removes its folder: on request, or after the end of the test process.
final class Janitor: Sendable {
    private let command: Command

    init(folder: String) throws {
        let script = """
            told=; trap 'told=1' TERM; trap '' INT HUP
            while [ -z "$told" ] && kill -0 "$1" 2> /dev/null; do sleep 0.1; done
            pid=$(head -n 1 "$0/data/postmaster.pid" 2> /dev/null) && kill -QUIT "$pid" 2> /dev/null
            while [ -n "$pid" ] && kill -0 "$pid" 2> /dev/null; do sleep 0.05; done
            rm -rf "$0"
            """
        command = try Command("/bin/sh", ["-c", script, folder, "\(getpid())"])
    }

    func cleanUp() async {
        command.signal(SIGTERM)
        _ = await command.exitCode()
    }
}
