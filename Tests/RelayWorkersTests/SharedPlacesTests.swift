import Testing

@testable import Relay

@Suite("Places that tenants share")
struct SharedPlacesTests {
    /// - Returns: number of places that the tenant got in that many tries.
    private func enter<Tenant>(_ tenant: Tenant, _ tries: Int, _ places: inout SharedPlaces<Tenant>) -> Int {
        var count = 0
        for _ in 0..<tries where places.enter(tenant) { count += 1 }
        return count
    }

    @Test("one tenant takes its share, and leaves the rest to the others")
    func share() {
        var places = SharedPlaces<String>(total: 32, each: 8, reserved: 8)
        let slow = enter("slow", 40, &places)
        #expect(slow == 8)
        #expect(places.free(for: "slow") == 0 && places.free(for: "other") == 8)
        let other = enter("other", 1, &places)
        #expect(other == 1)
        places.leave("slow")
        let again = enter("slow", 2, &places)
        #expect(again == 1)
    }

    @Test("the last places are for tenants that have none, one each")
    func reserved() {
        var places = SharedPlaces<Int>(total: 32, each: 8, reserved: 8)
        for tenant in 0..<3 {
            let count = enter(tenant, 9, &places)
            #expect(count == 8)
        }
        for tenant in 3..<11 {
            #expect(places.free(for: tenant) == 1)
            let count = enter(tenant, 3, &places)
            #expect(count == 1)
        }
        let full = enter(11, 1, &places)
        #expect(full == 0, "the total is taken")
        places.leave(0)
        let (old, new) = (enter(0, 1, &places), enter(11, 1, &places))
        #expect(old == 0 && new == 1)
    }

    @Test("a place that was not taken cannot be released")
    func unknown() {
        var places = SharedPlaces<Int>(total: 1, each: 1, reserved: 0)
        places.leave(1)
        let (one, two) = (enter(1, 1, &places), enter(2, 1, &places))
        #expect(one == 1 && two == 0)
    }
}
