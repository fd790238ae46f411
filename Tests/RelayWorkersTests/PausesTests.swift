import Testing

@testable import Relay

@Suite("Pauses after failures")
struct PausesTests {
    private let start = ContinuousClock.now

    @Test("one app's refusal leaves the others open")
    func byKey() {
        var pauses = Pauses<String>()
        pauses.pause("refused", for: .seconds(300), at: start)
        #expect(pauses.remaining(of: "refused", at: start + .seconds(100)) == .seconds(200))
        #expect(pauses.remaining(of: "other", at: start) == nil)
        #expect(pauses.remaining(of: "refused", at: start + .seconds(300)) == nil)
    }

    @Test("a shorter pause does not end a longer one")
    func longest() {
        var pauses = Pauses<String>()
        pauses.pause("a", for: .seconds(300), at: start)
        pauses.pause("a", for: .seconds(10), at: start)
        #expect(pauses.remaining(of: "a", at: start) == .seconds(300))
    }

    @Test("are kept for 1,000 keys, the longest ones")
    func bound() {
        var pauses = Pauses<Int>()
        for number in 0..<1_010 { pauses.pause(number, for: .seconds(10 + number), at: start) }
        #expect((0..<1_010).filter { pauses.remaining(of: $0, at: start) != nil } == Array(10..<1_010))
    }
}
