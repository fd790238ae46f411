import Foundation

/// A PostgreSQL server for tests, in a new folder, on a free port. It ends with the test process, even after a crash.
final class TestCluster: Sendable {
    let port: Int
    private let folder: String
    private let options: [String]
    // The janitor cleans up when this pipe is closed. The kernel closes it when the process ends.
    private let lifeline: (reading: Int32, writing: Int32)
    private let binaries: String

    struct Failure: Error { let what: String }

    /// - Parameters:
    ///   - options: settings for the server, as in `name=value`.
    ///   - hasTLS: whether the server offers TLS, with a certificate that it makes itself.
    ///   - password: password for SCRAM-SHA-256; nil if none is required.
    static func launch(
        options: [String] = [], hasTLS: Bool = false, password: String? = nil
    ) async throws -> TestCluster {
        try await ChildProcess.off { try TestCluster(options: options, hasTLS: hasTLS, password: password) }
    }

    private init(options: [String], hasTLS: Bool, password: String?) throws {
        binaries = try Self.findBinaries()
        port = try Self.freePort()
        folder = "/tmp/pgtest-\(getpid())-\(port)"
        self.options = options + (hasTLS ? ["ssl=on"] : [])
        lifeline = try ChildProcess.makePipe()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try startJanitor()
        if getuid() == 0 { try Self.run(["/bin/chown", "postgres", folder]) }
        try asServerUser(
            "initdb",
            ["-D", "\(folder)/data", "-U", "app", "--no-sync", "--locale=C.UTF-8", "-E", "UTF8"]
                + (try authentication(password)))
        if hasTLS { try makeCertificate("data/server") }
        try startServer()
    }

    deinit { close(lifeline.writing) }

    var connectionString: String { "host=127.0.0.1 port=\(port) user=app dbname=postgres" }

    func start() async throws {
        try await ChildProcess.off { try self.startServer() }
    }

    private func startServer() throws {
        let settings =
            [
                "fsync=off", "listen_addresses=127.0.0.1", "port=\(port)", "unix_socket_directories=\(folder)",
                "max_connections=200",
            ] + options
        let line = settings.map { "-c \($0)" }.joined(separator: " ")
        try asServerUser("pg_ctl", ["-D", "\(folder)/data", "-l", "\(folder)/log", "-o", line, "-w", "start"])
    }

    /// Stops the server without waiting for clients: `fast` notifies them, `immediate` is like a crash.
    func stop(_ mode: String = "fast") async throws {
        let arguments = ["-D", "\(folder)/data", "-m", mode, "-w", "stop"]
        try await ChildProcess.off { try self.asServerUser("pg_ctl", arguments) }
    }

    static let openssl = "/usr/bin/openssl"

    /// The server's certificate, which is its own root.
    var certificate: String { "\(folder)/data/server.crt" }

    /// Another certificate with the same name, which has signed nothing.
    func strangeCertificate() async throws -> String {
        try await ChildProcess.off { try self.makeCertificate("strange") }
        return "\(folder)/strange.crt"
    }

    private func authentication(_ password: String?) throws -> [String] {
        guard let password else { return ["--auth=trust"] }
        let file = "\(folder)/password"
        try password.write(toFile: file, atomically: true, encoding: .utf8)
        if getuid() == 0 { try Self.run(["/bin/chown", "postgres", file]) }
        return ["--auth=scram-sha-256", "--pwfile=\(file)"]
    }

    private func makeCertificate(_ name: String) throws {
        let files = ["-keyout", "\(folder)/\(name).key", "-out", "\(folder)/\(name).crt"]
        let request = ["req", "-new", "-x509", "-nodes", "-days", "2", "-newkey", "rsa:2048", "-subj", "/CN=localhost"]
        try Self.run(Self.serverUser + [Self.openssl] + request + files)
    }

    private func startJanitor() throws {
        let stop = Self.serverUser.joined(separator: " ") + " \(binaries)/pg_ctl -D \(folder)/data -m immediate stop"
        let script = "trap '' INT TERM HUP; cat; \(stop); rm -rf \(folder)"
        _ = try ChildProcess.start(["/bin/sh", "-c", script], input: lifeline.reading)
        close(lifeline.reading)
    }

    private func asServerUser(_ command: String, _ arguments: [String]) throws {
        try Self.run(Self.serverUser + ["\(binaries)/\(command)"] + arguments)
    }

    /// PostgreSQL refuses to run as root.
    private static let serverUser =
        getuid() == 0 ? ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] : []

    private static func run(_ arguments: [String]) throws {
        let status = ChildProcess.wait(for: try ChildProcess.start(arguments))
        guard status == 0 else {
            throw Failure(what: "\(arguments.joined(separator: " ")) ended with status \(status)")
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

    /// A port below the kernel's range for clients, since a client's connection could take such a port while a server
    /// is stopped.
    static func freePort() throws -> Int {
        for _ in 0..<100 {
            let port = Int.random(in: 20_000..<32_000)
            let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            defer { close(socket) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            address.sin_port = UInt16(port).bigEndian
            let isFree = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            if isFree { return port }
        }
        throw Failure(what: "no free port")
    }
}
