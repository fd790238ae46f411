import Logging
import Postgres
import Testing

@Suite("Notices of the server")
struct NoticeTests {
    private struct Handler: LogHandler {
        let sink: AsyncStream<String>.Continuation
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            if let notice = event.metadata?["notice"] { sink.yield("\(event.level) \(notice)") }
        }
    }

    @Test(arguments: [(Logger.Level.debug, ["debug heed this"]), (.info, [])])
    func goToTheLogAtLevelDebug(level: Logger.Level, expected: [String]) async throws {
        let (notices, sink) = AsyncStream<String>.makeStream()
        let logger = Logger(label: "notices") { _ in Handler(sink: sink, logLevel: level) }
        let configuration = PostgresConfiguration(connectionString: try await TestDatabase.connectionString())
        let pool = PostgresPool(configuration, logger: logger)
        let running = Task { await pool.run() }
        try await eventually {
            (try? await pool.withTransaction {
                try await $0.execute(script: "DO $$ BEGIN RAISE NOTICE 'heed this'; END $$")
            }) != nil
        }
        running.cancel()
        await running.value
        sink.finish()
        #expect(await notices.reduce(into: []) { $0.append($1) } == expected)
    }
}
