import Foundation

/// A PostgreSQL server of the tests' own, which may be crashed and started again. Gone when the test process is, however
/// that ends.
final class PrivateCluster: Sendable {
    let port: Int
    private let folder: String
    private let binaries: String
    private let server = LockedServer()
    private let janitor: Janitor
    /// Whether its disk can be made a bad one.
    private let hasDisk: Bool

    private static let calmOne = Task { try await PrivateCluster() }
    private static let crashingOne = Task { try await PrivateCluster() }

    /// The one that nobody crashes.
    static func calm() async throws -> PrivateCluster { try await calmOne.value }

    /// The one of ``DatabaseDays``; up, whatever the test before has done to it.
    static func crashing() async throws -> PrivateCluster {
        let cluster = try await crashingOne.value
        if !cluster.server.isRunning { try await cluster.start() }
        return cluster
    }

    /// One more, for whoever wants it alone. To be ended by ``end()``, or else with the test process.
    ///
    /// - Parameter disk: what it writes is synchronized, and ``disk(_:for:)`` can be used.
    init(disk: Bool = false) async throws {
        hasDisk = disk
        binaries = try Self.findBinaries()
        port = try FixedPort.free()
        // Not below the user's own temporary folder: the server's user has to reach it, and a socket's path is short.
        folder = "/tmp/relay-pg-\(getpid())-\(port)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        janitor = try Janitor(folder: folder)
        if getuid() == 0 { try await Command.run("/bin/chown", ["postgres", folder]) }
        try await Command.run(
            asServerUser: "\(binaries)/initdb",
            ["-D", "\(folder)/data", "-U", "relay", "--auth=trust", "--no-sync", "--locale=C.UTF-8", "-E", "UTF8"])
        try await start()
    }

    var url: String { "postgresql://relay@127.0.0.1:\(port)/postgres" }

    /// Returns once it takes connections.
    func start() async throws {
        let options = [
            "listen_addresses=127.0.0.1", "port=\(port)", "unix_socket_directories=\(folder)",
            "fsync=\(hasDisk ? "on" : "off")", "max_connections=100", "logging_collector=off",
        ]
        let command = ["\(binaries)/postgres", "-D", "\(folder)/data"] + options.flatMap { ["-c", $0] }
        var environment: [String] = []
        if hasDisk {
            environment = ["LD_PRELOAD=\(try await PreloadedLibrary.badDisk.path())", "BAD_DISK=\(folder)/disk"]
        }
        server.started(try Command(asServerUser: "/usr/bin/env", environment + command))
        try await Awaiting.fact("the cluster takes connections") {
            try await isReady()
        } holds: {
            $0
        }
    }

    /// For so long its disk is `full` or `slow` (`scripts/lib/bad-disk.c`).
    func disk(_ trouble: String, for length: Duration) async throws {
        let file = "\(folder)/disk"
        try Data(trouble.utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await Task.sleep(for: length)
    }

    /// As somebody does who finds it down, and leaves it alone where it is up.
    func startAgain() async throws {
        if try await isReady() { return }
        await crash()
        try await start()
    }

    private func isReady() async throws -> Bool {
        try await Command("\(binaries)/pg_isready", ["-q", "-h", "127.0.0.1", "-p", "\(port)"]).exitCode() == 0
    }

    /// As `pg_ctl stop -m immediate` does: every connection breaks, nothing is written down.
    func crash() async { await end(by: SIGQUIT) }

    /// As `pg_ctl stop -m fast` does: every session is told, everything is written down.
    func stop() async { await end(by: SIGINT) }

    private func end(by signal: Int32) async {
        guard let running = server.taken() else { return }
        running.signal(signal)
        _ = await running.exitCode()
    }

    /// With everything in it.
    func end() async {
        await crash()
        await janitor.cleanUp()
    }

    /// A new one in this cluster.
    func database(migrated: Bool = true) async throws -> TestDatabase {
        let name = "t\(UInt32.random(in: 0 ... .max))"
        try await Command.run(
            "\(binaries)/createdb", ["-h", "127.0.0.1", "-p", "\(port)", "-U", "relay", name])
        let database = TestDatabase(name: name, url: "postgresql://relay@127.0.0.1:\(port)/\(name)")
        if migrated { try await Self.migrate(database) }
        return database
    }

    static func migrate(_ database: TestDatabase) async throws {
        let ended = try await ChildProcess.run(
            "receipt-relay", ["migrate", "up"], environment: ["RELAY_DATABASE_URL": database.url])
        guard ended.code == 0 else { throw HarnessError.failed("migrate", ended.output) }
    }

    /// Where the newest PostgreSQL of this machine keeps its programs.
    static func findBinaries() throws -> String {
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap(Int.init)
        guard let newest = versions.max() else { throw HarnessError.failed("initdb", ["no PostgreSQL below \(root)"]) }
        return "\(root)/\(newest)/bin"
    }
}
