import Foundation
import Postgres

/// One PostgreSQL server of a pair. It ends with the test process, even after a crash.
final class DatabaseServer: Sendable {
    let port: Int
    private let folder: String
    private let binaries: String
    private let server = LockedServer()
    private let janitor: Janitor

    /// Makes a new server, or a copy of `primary` that follows it. Does not start it.
    init(following primary: DatabaseServer? = nil) async throws {
        binaries = try PrivateCluster.findBinaries()
        port = try FixedPort.free()
        folder = "/tmp/relay-ha-\(getpid())-\(port)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        janitor = try Janitor(folder: folder)
        if getuid() == 0 { try await Command.run("/bin/chown", ["postgres", folder]) }
        if let primary {
            try await run(
                "pg_basebackup",
                ["-D", data, "-X", "stream", "-c", "fast", "--no-sync", "-d", primary.replicationString(as: "standby")])
        } else {
            let options = ["-U", "relay", "--auth=trust", "--no-sync", "--locale=C.UTF-8", "-E", "UTF8"]
            try await run("initdb", ["-D", data] + options)
        }
    }

    private var data: String { "\(folder)/data" }

    func url(_ database: String = "postgres") -> String { "postgresql://relay@127.0.0.1:\(port)/\(database)" }

    private func replicationString(as name: String) -> String {
        "host=127.0.0.1 port=\(port) user=relay application_name=\(name)"
    }

    // MARK: Start and end

    /// Starts the server, and returns once it answers. A standby answers as soon as it can be read.
    ///
    /// - Parameters:
    ///   - primary: server that it follows; `nil` makes it a primary.
    ///   - standby: name of the standby that must confirm each commit; `nil` is none.
    func start(following primary: DatabaseServer? = nil, confirmedBy standby: String? = nil) async throws {
        let signal = "\(data)/standby.signal"
        if primary != nil {
            try await Command.run(asServerUser: "/usr/bin/touch", [signal])
        } else if FileManager.default.fileExists(atPath: signal) {
            try FileManager.default.removeItem(atPath: signal)
        }
        let options =
            [
                "listen_addresses=127.0.0.1", "port=\(port)", "unix_socket_directories=\(folder)", "fsync=off",
                "max_connections=100", "logging_collector=off", "synchronous_commit=on", "wal_keep_size=256MB",
                "wal_retrieve_retry_interval=100ms",
            ] + (standby.map { ["synchronous_standby_names=FIRST 1 (\($0))"] } ?? [])
            + (primary.map { ["primary_conninfo=\($0.replicationString(as: "standby"))"] } ?? [])
        server.started(
            try Command(asServerUser: "\(binaries)/postgres", ["-D", data] + options.flatMap { ["-c", $0] }))
        try await Awaiting.fact("the server on port \(port) takes connections", is: 0) {
            try await Command("\(self.binaries)/pg_isready", ["-q", "-h", "127.0.0.1", "-p", "\(self.port)"]).exitCode()
        }
    }

    /// Ends all clients' connections and stops the server, after its standby has received everything.
    func stop() async {
        guard let running = server.taken() else { return }
        running.signal(SIGINT)
        _ = await running.exitCode()
    }

    /// Kills every process of the server at once, like a power failure.
    func kill9() async throws {
        guard let running = server.taken() else { return }
        try signalAll(SIGKILL)
        _ = await running.exitCode()
    }

    /// Freezes the server, like a machine that hangs: connections stay open, and nothing answers.
    func freeze() throws { try signalAll(SIGSTOP) }

    func thaw() throws { try signalAll(SIGCONT) }

    /// Makes the standby the primary.
    func promote() async throws {
        try await run("pg_ctl", ["-D", data, "-w", "promote"])
    }

    private func signalAll(_ signal: Int32) throws {
        let file = try String(contentsOfFile: "\(data)/postmaster.pid", encoding: .utf8)
        guard let postmaster = file.split(separator: "\n").first.flatMap({ Int32($0) }) else {
            throw HarnessError.failed("postmaster.pid", [file])
        }
        // The parent first, so that it starts no other process meanwhile.
        for process in [postmaster] + Self.children(of: postmaster) { kill(process, signal) }
    }

    private static func children(of parent: Int32) -> [Int32] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return all.compactMap { Int32($0) }.filter { process in
            // Fields after the name, which is in brackets and may contain anything: the state, then the parent.
            let stat = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
            guard let end = stat.lastIndex(of: ")") else { return false }
            return stat[end...].split(separator: " ").dropFirst(2).first.flatMap { Int32($0) } == parent
        }
    }

    private func run(_ program: String, _ arguments: [String]) async throws {
        try await Command.run(asServerUser: "\(binaries)/\(program)", arguments)
    }

    /// Ends the server and removes its files.
    func end() async {
        if server.isRunning { try? thaw() }
        await janitor.cleanUp()
    }

    // MARK: Queries

    /// Runs a read-only statement on this server, whichever role it has.
    func look(_ sql: String, in database: String = "postgres") async throws -> PostgresRows {
        try await TestDatabase.query(on: url(database) + "?target_session_attrs=any", SQL(sql))
    }

    func count(_ sql: String, in database: String = "postgres") async throws -> Int {
        Int(try await look("SELECT count(*) FROM \(sql)", in: database).first?.get(0, as: Int64.self) ?? -1)
    }

    /// Number of the relay's sessions on this server.
    func relaySessions() async throws -> Int {
        try await count("pg_stat_activity WHERE application_name = 'receipt-relay'")
    }
}
