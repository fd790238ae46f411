import RelayCore
import Testing

@testable import RelayWorkers

@Suite("Places of the events of Cleeng's accounts")
struct EventPlacesTests {
    @Test("one account that is slow takes none of another's")
    func accounts() {
        let leases = Leases<Int, PublisherID?>(.fixed(startWithin: .seconds(60)))
        leases.with { table in
            for number in 0..<32 {
                table.begin(Lease(id: number, fence: 1), in: "slow", since: .now, LeasedWork { nil })
            }
        }
        let turns = CleengEventService.turns(ofAccounts: ["slow", "quick"], leases)
        #expect(turns.mapValues(\.limit) == ["slow": 0, "quick": 32, nil: 32])
    }
}
