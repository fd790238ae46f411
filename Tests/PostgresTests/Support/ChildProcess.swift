import Foundation

/// Starts programs. Foundation's `Process` waits for a socket that a started daemon keeps open; this waits only for the
/// child.
enum ChildProcess {
    struct Failure: Error { let what: String }

    /// Prevents the start of a child between the creation of a pipe and its mark as not inheritable.
    private static let lock = NSLock()

    /// A pipe whose ends are closed in every child.
    static func makePipe() throws -> (reading: Int32, writing: Int32) {
        lock.lock()
        defer { lock.unlock() }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure(what: "pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// - Parameters:
    ///   - arguments: the program's full path first.
    ///   - input: standard input; nil for none. The program's output is dropped.
    static func start(_ arguments: [String], input: Int32? = nil) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] { texts.map { strdup($0) } + [nil] }
        var words = copies(arguments)
        var environment = copies(["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"])
        defer { for word in words + environment { free(word) } }
        lock.lock()
        defer { lock.unlock() }
        var child: pid_t = 0
        let status = posix_spawn(&child, arguments[0], &actions, nil, &words, &environment)
        guard status == 0 else { throw Failure(what: "\(arguments[0]): \(String(cString: strerror(status)))") }
        return child
    }

    /// - Returns: the exit status; -1 if a signal ended the child.
    static func wait(for child: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return status & 0x7f == 0 ? (status >> 8) & 0xff : -1
    }

    /// Runs blocking work on a thread of its own, so that it does not block the few threads of Swift's pool.
    static func off<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result(catching: work)) }.start()
        }
    }
}
