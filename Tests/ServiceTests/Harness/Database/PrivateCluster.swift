import Foundation

/// A PostgreSQL server for tests, which may be crashed and started again. It ends with the test process, even after a
/// crash.
final class PrivateCluster: Sendable {
    let port: Int
    private let folder: String
    private let binaries: String
    private let server = LockedServer()
    private let janitor: Janitor
    /// Whether its disk can be disturbed.
    private let hasDisk: Bool

    private static let calmOne = Task { try await PrivateCluster() }
    private static let crashingOne = Task { try await PrivateCluster() }

    /// The cluster that no test crashes.
    static func calm() async throws -> PrivateCluster { try await calmOne.value }

    /// The cluster of ``DatabaseDays``. It runs, whatever the previous test has done to it.
    static func crashing() async throws -> PrivateCluster {
        let cluster = try await crashingOne.value
        if !cluster.server.isRunning { try await cluster.start() }
        return cluster
    }

    /// Another cluster for a single test. It ends with ``end()``, or with the test process.
    ///
    /// - Parameter disk: whether its writes are synchronized, so that ``disk(_:for:)`` can be used.
    init(disk: Bool = false) async throws {
        hasDisk = disk
        binaries = try Self.findBinaries()
        port = try FixedPort.free()
        // Not in the user's temporary folder: the server's user needs access, and a socket's path must be short.
        let memory = ProcessInfo.processInfo.environment["RELAY_TEST_MEMORY"] ?? ""
        folder = "\(disk || memory.isEmpty ? "/tmp" : memory)/relay-pg-\(getpid())-\(port)"
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

    /// Returns when it accepts connections.
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
        try await Awaiting.fact("the cluster takes connections", is: true) { try await isReady() }
    }

    /// Makes its disk `full` or `slow` for that time (`scripts/lib/bad-disk.c`).
    func disk(_ trouble: String, for length: Duration) async throws {
        let file = "\(folder)/disk"
        try Data(trouble.utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await Task.sleep(for: length)
    }

    /// Starts it if it does not run.
    func startAgain() async throws {
        if try await isReady() { return }
        await crash()
        try await start()
    }

    private func isReady() async throws -> Bool {
        try await Command("\(binaries)/pg_isready", ["-q", "-h", "127.0.0.1", "-p", "\(port)"]).exitCode() == 0
    }

    /// Like `pg_ctl stop -m immediate`: all connections break, and nothing is written.
    func crash() async { await end(by: SIGQUIT) }

    /// Like `pg_ctl stop -m fast`: sessions are notified, and everything is written.
    func stop() async { await end(by: SIGINT) }

    private func end(by signal: Int32) async {
        guard let running = server.taken() else { return }
        running.signal(signal)
        _ = await running.exitCode()
    }

    /// Ends the server and deletes its data.
    func end() async {
        await crash()
        await janitor.cleanUp()
    }

    /// A new database in this cluster.
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

    /// Folder with the programs of this machine's newest PostgreSQL.
    static func findBinaries() throws -> String {
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap(Int.init)
        guard let newest = versions.max() else { throw HarnessError.failed("initdb", ["no PostgreSQL below \(root)"]) }
        return "\(root)/\(newest)/bin"
    }
}
