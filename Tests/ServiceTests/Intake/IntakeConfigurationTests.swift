import Foundation
import Testing

/// Settings that prevent a start, with one line that names the setting; and the places where settings may be.
@Suite(.serialized) struct IntakeConfigurationTests {
    /// Enough settings to start. No database listens at its address, but the fronts open all the same.
    private static let enough = [
        "RELAY_DATABASE_URL": "postgresql://relay@127.0.0.1:1/none", "RELAY_CLEENG_PUBLISHER_TOKEN": "token-of-a-test",
        "RELAY_HTTP_HOST": "127.0.0.1", "RELAY_HTTP_PORT": "0", "RELAY_OPS_PORT": "0",
        "RELAY_CLEENG_PAYMENT_URL": "http://127.0.0.1:1", "RELAY_CLEENG_API_URL": "http://127.0.0.1:1",
    ]

    /// Expects that `serve` ends at once with a single line on standard error that names the setting and not its value.
    private static func refuses(
        _ changes: [String: String], naming name: String, arguments: [String] = [], hiding value: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var environment = enough
        environment.merge(changes, uniquingKeysWith: { $1 })
        let run = try await CommandRun.relay(["serve"] + arguments, environment: environment, limit: .seconds(15))
        let comment = Comment(rawValue: "\(changes) \(arguments) → \(run)")
        #expect(!run.wasStopped, comment, sourceLocation: sourceLocation)
        #expect(run.code > 0, comment, sourceLocation: sourceLocation)
        #expect(run.out.isEmpty, comment, sourceLocation: sourceLocation)
        #expect(run.err.count == 1, comment, sourceLocation: sourceLocation)
        #expect(run.err.first?.contains(name) == true, comment, sourceLocation: sourceLocation)
        if let value { #expect(run.err.first?.contains(value) == false, comment, sourceLocation: sourceLocation) }
    }

    @Test func anUnknownSettingStopsTheStart() async throws {
        try await Self.refuses(["RELAY_HTTP_PROT": "8080"], naming: "RELAY_HTTP_PROT")
        try await Self.refuses(["RELAY_": "x"], naming: "RELAY_")
        try await Self.refuses(["RELAY_HTTP_PORT_FILE": "/etc/hostname"], naming: "RELAY_HTTP_PORT_FILE")
        try await Self.refuses(["RELAY_COMPLETELY_DIFFERENT": "x"], naming: "RELAY_COMPLETELY_DIFFERENT")
        let folder = try ScratchFolder()
        defer { folder.remove() }
        let yaml = try folder.write("a.yaml", "http:\n  prot: 8080\n")
        try await Self.refuses([:], naming: "RELAY_HTTP_PROT", arguments: ["--config", yaml])
        let json = try folder.write("a.json", #"{"poll":{"interval":{"minutes":5}}}"#)
        try await Self.refuses([:], naming: "RELAY_POLL_INTERVAL_MINUTES", arguments: ["--config", json])
    }

    @Test func aRequiredSettingThatIsMissingOrEmptyStopsTheStart() async throws {
        for name in ["RELAY_DATABASE_URL", "RELAY_CLEENG_PUBLISHER_TOKEN"] {
            try await Self.refuses([name: ""], naming: name)
            let folder = try ScratchFolder()
            defer { folder.remove() }
            let blank = try folder.write("blank", " \n")
            try await Self.refuses([name: "", name + "_FILE": blank], naming: name)
            try await Self.refuses([name: "", name + "_FILE": folder.path + "/none"], naming: name + "_FILE")
            try await Self.refuses([name + "_FILE": blank], naming: name)
            try await Self.refuses([name + "_FILE": blank], naming: name + "_FILE")
        }
    }

    @Test(arguments: [
        ("RELAY_HTTP_HOST", ["not a host", "http://localhost"]), ("RELAY_OPS_HOST", ["a/b"]),
        ("RELAY_HTTP_PORT", ["http", "-1", "65536", "80.5", "0x50"]), ("RELAY_OPS_PORT", ["x"]),
        ("RELAY_POLL_INTERVAL_SECONDS", ["0", "-5", "5s", "nan", "inf", "1e999"]),
        ("RELAY_VALIDATION_TIMEOUT_SECONDS", ["0", "a minute"]), ("RELAY_RECONCILE_HOURS", ["-1", "1d"]),
        ("RELAY_UPSTREAM_TIMEOUT_SECONDS", ["0", ","]),
        ("RELAY_MAX_BODY_BYTES", ["0", "4MB", "-1", "99999999999999999999"]),
        ("RELAY_CLEENG_ENTITLEMENT_SOURCE", ["tags", "Entitlements"]),
        ("RELAY_CLEENG_PAYMENT_URL", ["api.cleeng.com", "ftp://api.cleeng.com", "http://", "https://a.test/?x=1"]),
        ("RELAY_CLEENG_API_URL", ["://", "https://user@a.test"]), ("RELAY_CLEENG_STOREKIT2_URL", ["nothing"]),
        ("RELAY_TRUSTED_PROXIES", ["proxy.local", "10.0.0.0/33", "10.0.0.0/8;10.1.0.0/16", "10.9.0.0/"]),
        ("RELAY_CUSTOMER_JWKS_URL", ["jwks"]),
        ("RELAY_CUSTOMER_JWKS_FILE", ["/nonexistent/jwks.json", "/etc/hostname"]),
        ("RELAY_CLEENG_TAGS_FILE", ["/nonexistent/tags.json", "/etc/passwd"]), ("RELAY_LOG_LEVEL", ["loud", "INFO"]),
        ("RELAY_DATABASE_URL", ["nonsense", "postgresql://a:b@[::1/x", "host=127.0.0.1 colour=blue"]),
        ("RELAY_DATABASE_CONNECTIONS", ["0", "many"]), ("RELAY_DATABASE_PREPARED_STATEMENTS", ["yes", "false", "ON"]),
        ("RELAY_CLEENG_PUBLISHER_TOKEN", ["two words", "line\nbreak", "tökén"]),
    ])
    func aMalformedSettingStopsTheStart(_ name: String, _ values: [String]) async throws {
        for value in values {
            try await Self.refuses([name: value], naming: name, hiding: value.utf8.count > 5 ? value : nil)
        }
    }

    @Test func aFileThatCannotBeReadStopsTheStart() async throws {
        let folder = try ScratchFolder()
        defer { folder.remove() }
        try await Self.refuses([:], naming: "--config", arguments: ["--config", folder.path + "/none.yaml"])
        for (name, text) in ["a.yaml": "http: [\n", "b.json": "{\"http\":", "c.yaml": "\u{0}"] {
            try await Self.refuses([:], naming: "--config", arguments: ["--config", try folder.write(name, text)])
        }
        let wrong = try folder.write("d.yaml", "http:\n  port: eighty\n")
        try await Self.refuses(["RELAY_HTTP_PORT": ""], naming: "RELAY_HTTP_PORT", arguments: ["--config", wrong])
    }

    @Test func filesOfBothKindsAreReadAndTheEnvironmentWins() async throws {
        let folder = try ScratchFolder()
        defer { folder.remove() }
        let yaml = """
            # as nested as one likes
            database: {url: "postgresql://relay@127.0.0.1:1/none"}
            cleeng:
              publisher_token: from-the-file
              payment_url: http://127.0.0.1:1
              api_url: http://127.0.0.1:1
            http:
              host: 127.0.0.2
              port: 0
            ops.port: 0
            poll_interval_seconds: 0.5
            log_level:
            """
        let json = """
            {"database":{"url":"postgresql://relay@127.0.0.1:1/none"},"cleeng":{"publisher":{"token":"from-the-file"},
            "payment_url":"http://127.0.0.1:1","api_url":"http://127.0.0.1:1"},"http":{"host":"127.0.0.2","port":0},
            "ops":{"port":0},"poll":{"interval":{"seconds":0.5}},"log_level":null}
            """
        let secret = try folder.write("secret", "another-token\n")
        for file in [try folder.write("good.yaml", yaml), try folder.write("good.json", json)] {
            for (environment, host) in [
                (["RELAY_HTTP_HOST": ""], "127.0.0.2"), (["RELAY_HTTP_HOST": "127.0.0.3"], "127.0.0.3"),
                // A secret's file from the environment overrides the secret in the configuration file.
                (["RELAY_CLEENG_PUBLISHER_TOKEN_FILE": secret], "127.0.0.2"),
            ] {
                let process = try ChildProcess("receipt-relay", ["serve", "--config", file], environment: environment)
                let line = await process.line { $0.contains("app front listening") }
                await process.end()
                let found = try line.map { try JSON(data: Data($0.utf8)) }?["host"].string
                #expect(found == host, "\(file) \(process.output)")
            }
        }
    }

    @Test func secretsInFilesWork() async throws {
        let folder = try ScratchFolder()
        defer { folder.remove() }
        let database = try await TestDatabase.make()
        let simulator = try await Simulator.start()
        let url = try folder.write("url", database.url + "\n")
        let token = try folder.write("token", Simulator.token + "\n")
        let relay = try await Relay.start(
            database: database, simulator: simulator,
            settings: [
                "RELAY_DATABASE_URL": "", "RELAY_DATABASE_URL_FILE": url, "RELAY_CLEENG_PUBLISHER_TOKEN": "",
                "RELAY_CLEENG_PUBLISHER_TOKEN_FILE": token,
            ])
        let id = try await relay.purchase(TestPurchase(email: "sec@example.test")).json["validationId"].string ?? ""
        // The grant shows that the simulator received the right token.
        let outcome = try await relay.outcome(id)
        #expect(outcome["status"].string == "granted")
        await relay.end()
        await simulator.end()
        try await database.drop()
    }
}
