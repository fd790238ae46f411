import Testing

@testable import Postgres

@Suite("What libpq is told")
struct ConnectionOptionsTests {
    private func options(
        _ text: String, environment: Set<String> = [], _ configure: (inout PostgresConfiguration) -> Void = { _ in }
    ) -> ConnectionOptions {
        var configuration = PostgresConfiguration(connectionString: text)
        configure(&configuration)
        return ConnectionOptions(configuration, hasInEnvironment: { environment.contains($0) })
    }

    /// Options as libpq reads the list: the last value counts, and the connection string counts at its position.
    private func effective(_ options: ConnectionOptions, last: HostList.Host? = nil) -> [String: String] {
        var effective: [String: String] = [:]
        for (keyword, value) in options.keywords(last: last) {
            guard keyword == "dbname" else {
                effective[keyword] = value
                continue
            }
            for (keyword, value) in ConnectionString.options(value) ?? [] { effective[keyword] = value }
        }
        return effective
    }

    @Test(arguments: ["host=a", "host=a,b", "postgresql://a,b/relay", ""])
    func theDefaultIsTheServerThatAcceptsWrites(text: String) {
        #expect(effective(options(text))["target_session_attrs"] == "read-write")
    }

    @Test func whatTheUserSaysCounts() {
        let text = "host=a,b target_session_attrs=any connect_timeout=9 keepalives_idle=70 tcp_user_timeout=80"
        let told = effective(options(text))
        #expect(told["target_session_attrs"] == "any")
        #expect(told["connect_timeout"] == "9")
        #expect(told["keepalives_idle"] == "70")
        #expect(told["tcp_user_timeout"] == "80")
        let environment: Set = ["PGTARGETSESSIONATTRS", "PGCONNECT_TIMEOUT"]
        let quiet = effective(options("host=a", environment: environment))
        #expect(quiet["target_session_attrs"] == nil)
        #expect(quiet["connect_timeout"] == nil)
    }

    /// The search for Kerberos credentials crashed processes that were ending at that moment.
    @Test func kerberosIsUsedOnlyOnRequest() {
        #expect(effective(options("host=a"))["gssencmode"] == "disable")
        #expect(effective(options("host=a gssencmode=prefer"))["gssencmode"] == "prefer")
        #expect(effective(options("host=a", environment: ["PGGSSENCMODE"]))["gssencmode"] == nil)
    }

    @Test func theEncodingIsNotTheUsersToChoose() {
        #expect(effective(options("host=a client_encoding=LATIN1"))["client_encoding"] == "UTF8")
    }

    @Test func aDeadHostOfSeveralCostsLess() {
        #expect(effective(options("host=a"))["connect_timeout"] == "5")
        #expect(effective(options("host=a,b"))["connect_timeout"] == "3")
        // libpq treats 1 as 2, and 0 as no limit.
        #expect(effective(options("host=a,b") { $0.failoverConnectTimeout = .zero })["connect_timeout"] == "2")
        #expect(PostgresConfiguration(connectionString: "host=a").failoverTime == .zero)
        #expect(PostgresConfiguration(connectionString: "host=a,b,c").failoverTime == .seconds(6))
        #expect(
            PostgresConfiguration(connectionString: "host=a,b connect_timeout=20").failoverTime == .seconds(20))
    }

    @Test func anUnreachableServerIsGivenUpInTime() {
        let told = effective(options("host=a"))
        #expect(told["tcp_user_timeout"] == "12000")
        #expect(told["keepalives_idle"] == "5")
        let patient = effective(options("host=a") { $0.unreachableAfter = .seconds(1 << 40) })
        #expect(patient["tcp_user_timeout"] == "\(Int32.max)")
    }

    @Test func theLastPrimaryIsTriedFirst() {
        let b = HostList.Host(name: "b", port: "2")
        #expect(effective(options("postgresql://a:1,b:2,c:3/x"), last: b)["host"] == "b,a,c")
        #expect(effective(options("postgresql://a:1,b:2,c:3/x"), last: b)["port"] == "2,1,3")
        #expect(effective(options("host=a,b port=2 target_session_attrs=primary"), last: b)["host"] == "b,a")
        // A string that asks for any server has an intended order.
        #expect(effective(options("host=a,b port=2 target_session_attrs=any"), last: b)["host"] == "a,b")
        // The last host is not in the string.
        #expect(effective(options("host=a,c"), last: b)["host"] == "a,c")
        #expect(effective(options("service=elsewhere"), last: b)["host"] == nil)
    }

    @Test(arguments: [
        ("25006", true), ("57P01", true), ("57P02", true), ("57P03", true), ("57P05", true), ("08006", true),
        ("08P01", true), ("34000", true), ("57014", false), ("40001", false), ("23505", false), ("25P02", false),
        ("53300", false),
    ])
    func someErrorsEndTheConnection(sqlState: String, isOver: Bool) {
        #expect(ConnectionFate.isOver(after: sqlState) == isOver)
        #expect(!ConnectionFate.isOver(after: nil))
    }
}

@Suite("Hosts")
struct HostListTests {
    @Test func listsOfNamesAddressesAndPortsGoTogether() {
        let list = HostList(host: "a,,/run/pg", hostaddr: "10.0.0.1,10.0.0.2,", port: "5432")
        #expect(
            list?.hosts == [
                .init(name: "a", address: "10.0.0.1", port: "5432"),
                .init(name: "", address: "10.0.0.2", port: "5432"), .init(name: "/run/pg", port: "5432"),
            ])
        #expect(
            HostList(host: "a,b", hostaddr: nil, port: ",7")?.hosts == [.init(name: "a"), .init(name: "b", port: "7")])
        // A combining mark forms one character with the comma next to it.
        #expect(
            HostList(host: "a\u{600},\u{301}b", hostaddr: nil, port: nil)?.hosts.map { Array($0.name.utf8) }
                == [Array("a\u{600}".utf8), Array("\u{301}b".utf8)])
        #expect(HostList(host: "a,b", hostaddr: nil, port: "1,2,3") == nil)
        #expect(HostList(host: "a,b", hostaddr: "10.0.0.1", port: nil) == nil)
        #expect(HostList(host: nil, hostaddr: nil, port: "5") == nil)
    }

    @Test func whatWasReadIsWrittenAgain() throws {
        for (host, address, port) in [
            ("a,b", nil, "1,2"), ("a", nil, nil), ("a,b", "10.0.0.1,10.0.0.2", "5,5"), (nil, "10.0.0.1", "7"),
            ("a,b", nil, ",7"),
        ] as [(String?, String?, String?)] {
            let list = try #require(HostList(host: host, hostaddr: address, port: port))
            let written = Dictionary(list.keywords, uniquingKeysWith: { $1 })
            #expect(written["host"] == host)
            #expect(written["hostaddr"] == address)
            #expect(written["port"] == port)
        }
    }

    @Test func libpqsErrorsAreMatchedToAHost() {
        #expect(HostList.Host(name: "a", address: "10.0.0.1", port: "5").isServed(by: "a", port: "5"))
        #expect(HostList.Host(name: "a").isServed(by: "a", port: "5432"))
        #expect(HostList.Host(name: "", address: "10.0.0.1").isServed(by: "10.0.0.1", port: "5432"))
        #expect(!HostList.Host(name: "a", port: "5").isServed(by: "a", port: "6"))
        #expect(!HostList.Host(name: "a").isServed(by: "b", port: "5432"))
    }
}
