import RelayCore
import TestSupport
import Testing

@Suite("Places for endpoints")
struct EndpointCapacityTests {
    @Test("an endpoint has its own bound, and what its breaker allows")
    func bounds() {
        let rooms = EndpointCapacity(places: 1_000, perEndpoint: 32)
        #expect(rooms.available(taken: 0, own: 0) == 32)
        #expect(rooms.available(taken: 30, own: 30) == 2)
        #expect(rooms.available(taken: 32, own: 32) == 0)
        #expect(rooms.available(taken: 3, own: 3, allowance: 4) == 1)
        #expect(rooms.available(taken: 1_000, own: 0) == 0)
    }

    @Test("with any number of hanging calls, the next one gets a place, and the limit holds")
    func fairness() {
        let rooms = EndpointCapacity(places: 64, perEndpoint: 32)
        var owns: [Int] = []
        for _ in 0..<8 {
            let room = rooms.available(taken: owns.reduce(0, +), own: 0)
            #expect(room >= 1 || owns.reduce(0, +) == 64)
            owns.append(room)
        }
        #expect(owns[0] == 32 && owns[1] == 16 && owns[5] == 1)
        var generator = SeededGenerator(seed: 3)
        var taken = [Int](repeating: 0, count: 20)
        for _ in 0..<5_000 {
            let index = Int.random(in: 0..<20, using: &generator)
            if Bool.random(using: &generator) {
                taken[index] += rooms.available(taken: taken.reduce(0, +), own: taken[index])
            } else if taken[index] > 0 {
                taken[index] -= 1
            }
            #expect(taken.reduce(0, +) <= 64 && taken.allSatisfy { $0 <= 32 })
        }
    }
}
