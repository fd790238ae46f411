import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("Times stored by an older version")
struct OldMomentTests {
    @Test("are absent outside the years 1970 to 9999, or the nearest time if required")
    func held() async throws {
        try await withStore { database, _ in
            for (text, date) in [
                ("infinity", nil), ("-infinity", nil), ("131971-06-14 00:00:00+00", nil),
                ("0044-03-15 00:00:00+00 BC", nil),
                ("2100-01-01 00:00:00+00", "2100-01-01T00:00:00.000Z"),
            ] as [(String, String?)] {
                let rows = try await database.hand.query("SELECT \(.text(text))::timestamptz AS a")
                let row = try #require(rows.first)
                #expect(try row.timestampIfSet("a")?.rfc3339 == date, "\(text)")
                #expect(Timestamp.datable.contains(try row.timestamp("a")), "\(text)")
                guard date == nil else { continue }
                #expect(throws: StoreError.self) { try row.finiteTimestamp("a") }
            }
        }
    }
}
