import Foundation

/// A PostgreSQL server of the tests' own, in a fresh folder, on a free port. Gone when the test process is, however that ends.
final class TestCluster: Sendable {
    let port: Int
    private let folder: String
    private let options: [String]
    // Closing its end of this pipe is what tells the janitor to clean up, and the kernel closes it when the process ends.
    private let lifeline: Pipe
    private let binaries: String

    struct Failure: Error { let what: String }

    /// - Parameter options: settings for the server, as in `name=value`.
    init(options: [String] = []) throws {
        binaries = try Self.findBinaries()
        port = try Self.freePort()
        folder = "/tmp/pgtest-\(getpid())-\(port)"
        self.options = options
        lifeline = Pipe()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try startJanitor()
        if getuid() == 0 { try Self.run("/bin/chown", ["postgres", folder]) }
        try asServerUser(
            "initdb",
            ["-D", "\(folder)/data", "-U", "app", "--auth=trust", "--no-sync", "--locale=C.UTF-8", "-E", "UTF8"])
        try start()
    }

    deinit { try? lifeline.fileHandleForWriting.close() }

    var connectionString: String { "host=127.0.0.1 port=\(port) user=app dbname=postgres" }

    func start() throws {
        let settings =
            [
                "fsync=off", "listen_addresses=127.0.0.1", "port=\(port)", "unix_socket_directories=\(folder)",
                "max_connections=200",
            ] + options
        let line = settings.map { "-c \($0)" }.joined(separator: " ")
        try asServerUser("pg_ctl", ["-D", "\(folder)/data", "-l", "\(folder)/log", "-o", line, "-w", "start"])
    }

    /// Without waiting for clients: `fast` tells them, `immediate` is as a crash.
    func stop(_ mode: String = "fast") throws {
        try asServerUser("pg_ctl", ["-D", "\(folder)/data", "-m", mode, "-w", "stop"])
    }

    private func startJanitor() throws {
        let janitor = Process()
        janitor.executableURL = URL(fileURLWithPath: "/bin/sh")
        let stop = Self.serverUser.joined(separator: " ") + " \(binaries)/pg_ctl -D \(folder)/data -m immediate stop"
        janitor.arguments = ["-c", "trap '' INT TERM HUP; cat; \(stop); rm -rf \(folder)"]
        janitor.standardInput = lifeline.fileHandleForReading
        janitor.standardOutput = FileHandle.nullDevice
        janitor.standardError = FileHandle.nullDevice
        // So that no other child of this process holds the pipe open.
        _ = fcntl(lifeline.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        try janitor.run()
    }

    private func asServerUser(_ command: String, _ arguments: [String]) throws {
        let line = Self.serverUser + ["\(binaries)/\(command)"] + arguments
        try Self.run("/usr/bin/env", line)
    }

    /// PostgreSQL refuses to run as root.
    private static let serverUser =
        getuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] : []

    private static func run(_ path: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(what: "\(arguments.joined(separator: " ")) ended with \(process.terminationStatus)")
        }
    }

    private static func findBinaries() throws -> String {
        let root = "/usr/lib/postgresql"
        let installed = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap(Int.init)
            .sorted()
        let path = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":").map(String.init) ?? []
        let folders = installed.reversed().map { "\(root)/\($0)/bin" } + path
        guard let folder = folders.first(where: { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }) else {
            throw Failure(what: "no initdb: install PostgreSQL's server, or set RELAY_TEST_DATABASE_URL")
        }
        return folder
    }

    static func freePort() throws -> Int {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        guard isBound else { throw Failure(what: "no free port") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
