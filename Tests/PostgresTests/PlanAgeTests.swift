import Testing

@testable import Postgres

@Suite("A session's plans")
struct PlanAgeTests {
    private let begin = ContinuousClock.now

    @Test("get as old as the session was when it made them, within bounds")
    func ages() {
        var age = PlanAge(begin: begin, bounds: .seconds(5) ... .seconds(60))
        var ends: [Int] = []
        for second in 0..<300 where age.isOver(begin + .seconds(second)) { ends.append(second) }
        #expect(ends == [5, 10, 20, 40, 80, 140, 200, 260])
    }
}
