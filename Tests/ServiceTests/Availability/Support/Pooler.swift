import Foundation

/// PgBouncer in front of a cluster, as a separate process.
final class Pooler: Ends, Sendable {
    enum Mode: String, Sendable { case session, transaction }

    private static let programs = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"]
    private static let program = programs.first { FileManager.default.isExecutableFile(atPath: $0) }
    static var isInstalled: Bool { program != nil }

    let port: Int
    private let folder: String
    private let process = LockedServer()

    /// - Parameter connections: connections to the server, for all clients together.
    private init(_ cluster: PrivateCluster, _ mode: Mode, connections: Int) async throws {
        port = try FixedPort.free()
        folder = "/tmp/relay-pool-\(getpid())-\(port)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        try write("\"relay\" \"\"\n", "users")
        // The settings of Debian's file except for these. In particular, no startup parameter is ignored.
        try write(
            """
            [databases]
            * = host=127.0.0.1 port=\(cluster.port)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = trust
            auth_file = \(folder)/users
            admin_users = relay
            pool_mode = \(mode.rawValue)
            default_pool_size = \(connections)
            max_client_conn = 200
            """, "pgbouncer.ini")
    }

    /// Writes a file that the server's user can read.
    private func write(_ text: String, _ name: String) throws {
        try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: "\(folder)/\(name)")
    }

    static func run(
        before cluster: PrivateCluster, mode: Mode, connections: Int, _ body: (Pooler) async throws -> Void
    ) async throws {
        let pooler = try await Pooler(cluster, mode, connections: connections)
        try await pooler.during {
            try await pooler.start()
            try await body(pooler)
        }
    }

    /// The same database, reached through the pooler.
    func database(_ direct: TestDatabase) -> TestDatabase {
        TestDatabase(name: direct.name, url: "postgresql://relay@127.0.0.1:\(port)/\(direct.name)")
    }

    /// Starts the pooler, and returns once it accepts connections.
    func start() async throws {
        guard let program = Self.program else { throw HarnessError.failed("pgbouncer", ["it is not installed"]) }
        // PgBouncer refuses to run as root. This shell ends it if the test process ends first.
        let script = """
            "$0" -q "$1" & child=$!
            trap 'kill -9 $child' TERM
            while kill -0 $child 2> /dev/null && [ -d "/proc/$2" ]; do sleep 0.1; done
            kill -9 $child 2> /dev/null
            """
        process.started(
            try Command(asServerUser: "/bin/sh", ["-c", script, program, "\(folder)/pgbouncer.ini", "\(getpid())"]))
        try await Awaiting.fact("the pooler takes connections", is: 0) {
            try await Command(
                "/bin/bash", ["-c", "exec 3<>/dev/tcp/127.0.0.1/\(port)"]
            ).exitCode()
        }
    }

    /// Kills the pooler, like a crash: every connection breaks.
    func kill9() async {
        guard let running = process.taken() else { return }
        running.signal(SIGTERM)
        _ = await running.exitCode()
    }

    func end() async {
        await kill9()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
