import Foundation

/// A child process and the reading end of its output, both standard streams in one pipe.
///
/// Foundation's `Process` is not used. On Linux, children that start at the same moment inherit its descriptors, so
/// that ends go unnoticed. Hundreds of file handles with a readability handler also crash its event loop.
struct Spawn: Sendable {
    struct Failed: Error, CustomStringConvertible {
        let what: String
        let number: Int32
        var description: String { "\(what): \(String(cString: strerror(number)))" }
    }

    let pid: pid_t
    private let output: Int32

    init(_ path: String, _ arguments: [String], environment: [String: String]) throws {
        var ends: [Int32] = [-1, -1]
        // A pipe that no other child inherits would need pipe2(2), which Swift does not see.
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Failed(what: "socketpair", number: errno) }
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        _ = Self.closeFrom?(&actions, 3)
        // A child inherits blocked signals from the test's thread.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGPIPE, SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var pid: pid_t = 0
        let result = Self.withCStrings([path] + arguments) { argv in
            Self.withCStrings(environment.map { "\($0)=\($1)" }) { envp in
                posix_spawn(&pid, path, &actions, &attributes, argv, envp)
            }
        }
        guard result == 0 else {
            close(ends[0])
            throw Failed(what: path, number: result)
        }
        self.pid = pid
        output = ends[0]
    }

    /// Must be called once. Both closures are called on their own threads; `onOutput` receives an empty piece at the
    /// end.
    func watch(onOutput: @escaping @Sendable (Data) -> Void, onExit: @escaping @Sendable (Int32) -> Void) {
        Thread.detachNewThread { [output] in
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                let count = read(output, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                onOutput(Data(buffer[..<count]))
            }
            close(output)
            onOutput(Data())
        }
        Thread.detachNewThread { [pid] in
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7f
            onExit(signal == 0 ? (status >> 8) & 0xff : -signal)
        }
    }

    /// Closes inherited descriptors in the child. NIO's sockets would be inherited: a connection closed here would stay
    /// open in the child. Swift does not see this function of glibc.
    private static let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
        unsafeBitCast(
            $0, to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self)
    }

    private static func withCStrings<T>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> T
    ) -> T {
        let pointers = strings.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }
}
