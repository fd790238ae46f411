import Testing

@testable import RelayWorkers

@Suite("Emails by customer number")
struct NumberMemoryTests {
    @Test("are forgotten after some minutes, and only so many are kept")
    func memory() {
        let memory = NumberMemory(capacity: 2)
        let now = ContinuousClock.now
        memory.keep("ana@example.test", of: 1, now: now)
        #expect(memory.email(of: 1, now: now + NumberMemory.keepFor - .seconds(1)) == "ana@example.test")
        #expect(memory.email(of: 1, now: now + NumberMemory.keepFor) == nil)
        for number in 2...4 { memory.keep("c\(number)@example.test", of: Int64(number), now: now) }
        #expect(memory.email(of: 1, now: now) != nil && memory.email(of: 4, now: now) != nil)
        memory.keep("c5@example.test", of: 5, now: now)
        #expect(memory.email(of: 1, now: now) == nil && memory.email(of: 3, now: now) != nil)
    }
}
