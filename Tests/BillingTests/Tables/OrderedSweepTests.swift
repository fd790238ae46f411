import Testing

@testable import Billing
@testable import Relay

@Suite("A sweep of voided purchases")
struct OrderedSweepTests {
    @Test("is due for the app of a Google purchase whose order was committed")
    func ordered() async throws {
        try await Billing.run { billing in
            let order = try await billing.order(try await billing.check("google:token-1").id)
            #expect(try await billing.database.count("store_sweeps") == 0)
            _ = try await billing.commit(order)
            let apps = "SELECT publisher || ' ' || store || ' ' || app FROM store_sweeps"
            #expect(try await billing.database.column(apps, as: String.self) == ["main google com.example.app"])
        }
    }
}
