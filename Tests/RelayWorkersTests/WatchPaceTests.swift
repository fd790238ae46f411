import Testing

@testable import Relay

@Suite("The pace of looking for due work")
struct WatchPaceTests {
    private static let nothing = DueLook(works: [], isAlone: true)

    /// The pauses after looks with these results, and how far ahead each look searched.
    private func walk(_ looks: [DueLook]) -> [(seen: Duration, pause: Duration)] {
        var pace = WatchPace()
        return looks.map { (pace.horizon, pace.pause(after: $0)) }
    }

    @Test("is once a second without work; no pause is longer than the last look searched ahead")
    func quiet() {
        let walked = walk(Array(repeating: Self.nothing, count: 12))
        #expect(
            walked.map(\.pause) == Array(repeating: WatchPace.quick, count: 8)
                + Array(repeating: WatchPace.slow, count: 4))
        #expect(walked.allSatisfy { $0.pause <= max($0.seen, WatchPace.quick) })
    }

    @Test(
        "is four times a second after work was found, and beside another copy",
        arguments: [
            DueLook(works: [.events], isAlone: true), DueLook(works: [], isAlone: false),
        ])
    func awake(_ look: DueLook) {
        let walked = walk(Array(repeating: Self.nothing, count: 10) + [look] + Array(repeating: Self.nothing, count: 8))
        #expect(walked.dropFirst(10).map(\.pause) == Array(repeating: WatchPace.quick, count: 9))
        #expect(walk(Array(repeating: look, count: 20)).allSatisfy { $0.pause == WatchPace.quick && $0.seen == .zero })
    }
}
