import Testing

@testable import HTTPServer

struct BodyBudgetTests {
    @Test func aRequestThatDoesNotFitIsRefusedAndUsesNothing() throws {
        let budget = BodyBudget(limit: 100)
        let (large, small) = (BodyLoan(budget), BodyLoan(budget))
        try large.grow(by: 60)
        try large.grow(by: 30)
        let problem = #expect(throws: Problem.self) { try large.grow(by: 11) }
        #expect(problem?.code == .overloaded)
        #expect(problem?.code.retryAfterSeconds != nil)
        #expect(budget.bytes == 90)
        // A smaller request still fits.
        try small.grow(by: 10)
        #expect(budget.bytes == 100)
    }

    @Test func aLoanIsReleasedOnce() throws {
        let budget = BodyBudget(limit: 100)
        let (one, other) = (BodyLoan(budget), BodyLoan(budget))
        try one.grow(by: 40)
        try other.grow(by: 50)
        one.end()
        one.end()
        #expect(budget.bytes == 50)
        other.end()
        #expect(budget.bytes == 0)
    }
}
