import TestRun
import Testing

extension DatabaseDays {
    @Suite struct DatabaseAtStartTests {
        @Test(.timeLimit(.paced(minutes: 4)))
        func aCopyStartedWithoutItsDatabaseSaysSoAndWorksOnceItIsThere() async throws {
            let cluster = try await PrivateCluster.crashing()
            try await BadDay.run(in: cluster) { day in
                await cluster.crash()
                let relay = try await day.relay(isReady: false)
                let said = await relay.process.line { $0.contains("not ready") && $0.contains("database") }
                #expect(said?.contains("\"level\":\"warning\"") == true)
                try await Probes(relay).areNotReady(missing: "database")

                let refused = await AppClient.post(TestPurchase(email: "early@example.test"), to: relay)
                Probes.isUnavailable(refused)
                let poll = try await AppClient.poll(Probes.someID, of: relay)
                #expect(poll.status == 503)
                #expect(poll.header("Retry-After") != nil)
                #expect(relay.process.output.contains { $0.contains("\"message\":\"ready\"") } == false)
                let session = "relay_session=" + String(repeating: "0", count: 64)
                let console = try await HTTP.get(relay.opsURL + "/", headers: ["Cookie": session])
                #expect(console.status == 503)
                for words in ["the log of this copy says why", "Nothing that was accepted is lost"] {
                    #expect(console.text.contains(words), "\(console.text)")
                }
                // Without the database anybody may be the visitor.
                #expect(!console.text.contains("127.0.0.1") && !console.text.contains("server"), "\(console.text)")

                try await cluster.start()
                let began = ContinuousClock.now
                _ = await relay.process.line { $0.contains("\"message\":\"ready\"") }
                Measured.note("ready after the database came", ContinuousClock.now - began)
                try await Probes(relay).areReady()
                let posted = await AppClient.post(refused.purchase, to: relay)
                #expect(posted.status == 202)
                #expect(try await AppClient.outcomes([#require(posted.id)], of: relay) == ["granted": 1])
            }
        }

        @Test(.timeLimit(.paced(minutes: 4)))
        func aDatabaseWithoutTheSchemaIsNamedUntilItIsMigrated() async throws {
            let cluster = try await PrivateCluster.crashing()
            try await BadDay.run(in: cluster) { day in
                let empty = try await cluster.database(migrated: false)
                // The keys were made in the other database. This one has no table for them.
                let relay = try await day.relay(isReady: false, settings: ["RELAY_DATABASE_URL": empty.url])
                let said = await relay.process.line { $0.contains("not ready") && $0.contains("schema") }
                #expect(said?.contains("receipt-relay migrate") == true)
                try await Probes(relay).areNotReady(missing: "schema")
                Probes.isUnavailable(await AppClient.post(TestPurchase(email: "early@example.test"), to: relay))
                #expect(try await AppClient.poll(Probes.someID, of: relay).status == 503)

                try await PrivateCluster.migrate(empty)
                _ = await relay.process.line { $0.contains("\"message\":\"ready\"") }
                try await Probes(relay).areReady()
                let migrated = Relay(
                    process: relay.process, url: relay.url, opsURL: relay.opsURL, database: empty,
                    keys: try await Relay.makeKeys(empty))
                let posted = try await Awaiting.fact("the new key is known") {
                    await AppClient.post(TestPurchase(email: "after@example.test"), to: migrated)
                } holds: {
                    $0.status == 202
                }
                #expect(try await AppClient.outcomes([#require(posted.id)], of: migrated) == ["granted": 1])
            }
        }
    }
}
