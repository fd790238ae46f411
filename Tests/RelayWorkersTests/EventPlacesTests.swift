import RelayCore
import Testing

@testable import Relay

@Suite("Places of the events of Cleeng's accounts")
struct EventPlacesTests {
    @Test("a slow account uses no place of another")
    func accounts() {
        let leases = Leases<Int, PublisherID?>(.fixed(startWithin: .seconds(60)))
        leases.with { table in
            for number in 0..<32 {
                table.begin(Lease(id: number, fence: 1), in: "slow", since: .now, LeasedWork {})
            }
        }
        let allowances: [PublisherID?: ClaimAllowance<Never>] = leases.allowances(of: ["slow", "quick", nil], each: 32)
        #expect(allowances.mapValues(\.limit) == ["slow": 0, "quick": 32, nil: 32])
    }
}
