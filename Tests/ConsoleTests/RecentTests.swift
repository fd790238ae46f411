import Synchronization
import Testing

@testable import Console

@Suite("Shared reads")
struct RecentTests {
    private struct Trouble: Error {}

    private final class Reads: Sendable {
        let count = Atomic(0)

        func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
    }

    @Test("ten concurrent callers cause one read, and so do later ones")
    func shared() async throws {
        let reads = Reads()
        let recent = Recent(lifetime: .seconds(600)) {
            await Task.yield()
            return reads.next()
        }
        let values = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<10 { group.addTask { try await recent.value() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values == Array(repeating: 1, count: 10))
        #expect(try await recent.value() == 1)
    }

    @Test("old values are read again, and so are failed ones")
    func again() async throws {
        let reads = Reads()
        let recent = Recent(lifetime: .zero) {
            let number = reads.next()
            if number == 2 { throw Trouble() }
            return number
        }
        #expect(try await recent.value() == 1)
        await #expect(throws: Trouble.self) { try await recent.value() }
        #expect(try await recent.value() == 3)
    }
}
