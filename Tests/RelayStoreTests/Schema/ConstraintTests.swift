import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("The database itself refuses")
struct ConstraintTests {
    @Test("a grant without evidence")
    func evidence() async throws {
        try await withStore { database, store in
            let id = try await store.take(.sample())
            let error = await postgresError {
                try await database.run(
                    "UPDATE validations SET status = 1, settled_at = now() WHERE id = $1", .uuid(id.uuid))
            }
            #expect(error?.sqlState == "23514")
            #expect(try await database.value("SELECT status FROM validations", as: Int.self) == 0)
        }
    }

    @Test("an end without its time, and a time without an end", arguments: ["status = 3", "settled_at = now()"])
    func settledAt(change: String) async throws {
        try await withStore { database, store in
            try await store.take(.sample())
            let error = await postgresError { try await database.run("UPDATE validations SET \(change)") }
            #expect(error?.sqlState == "23514")
        }
    }

    @Test("a second sender for a subscription")
    func oneSender() async throws {
        try await withStore { database, store in
            try await store.take(.sample(customer: "ana@example.test"))
            try await store.take(.sample(customer: "ben@example.test"))
            let error = await postgresError { try await database.run("UPDATE pursuits SET sending = true") }
            #expect(error?.constraint == "pursuits_one_sender")
            #expect(try await database.count("pursuits", where: "sending") == 0)
        }
    }

    @Test("no second sender in another environment")
    func oneSenderByEnvironment() async throws {
        try await withStore { database, store in
            try await store.take(.sample())
            try await store.take(.sample(environment: "unknown"))
            try await database.run("UPDATE pursuits SET sending = true")
            #expect(try await database.count("pursuits", where: "sending") == 2)
        }
    }

    @Test("a sender in another phase than forwarding")
    func senderPhase() async throws {
        try await withStore { database, store in
            try await store.take(.sample())
            let error = await postgresError { try await database.run("UPDATE pursuits SET sending = true, phase = 1") }
            #expect(error?.sqlState == "23514")
        }
    }
}
