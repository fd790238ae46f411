import Foundation
import Testing

@testable import Postgres

/// What threads share outside of an actor, from many threads at once and with nothing else between them: this is what
/// `scripts/sanitize` looks at. The tests with a server pass so many locks that a missing one hardly shows there.
@Suite("State that threads share")
struct SharedStateTests {
    private func together(_ work: @escaping @Sendable (Int) -> Void) async throws {
        let threads = (0..<4).map { number in Thread { for _ in 0..<2_000 { work(number) } } }
        for thread in threads { thread.start() }
        try await eventually { threads.allSatisfy(\.isFinished) }
    }

    @Test func theLastPrimary() async throws {
        let last = LastPrimary()
        let hosts = HostList(host: "a,b,c,d", hostaddr: nil, port: nil)
        try await together { number in
            last.found(["a", "b", "c", "d"][number], port: "1", among: hosts)
            _ = last.host
        }
        #expect(hosts?.hosts.contains { $0 == last.host } == true)
    }

    @Test func whatALaneTellsAnyThread() async throws {
        let settings = LaneSettings(
            .shared, PostgresConfiguration(connectionString: ""), owner: EventLoopOwner(), logger: .silent,
            observer: SilentPostgresObserver())
        try await together { number in
            settings.connectedCount = number
            _ = settings.connectedCount
            _ = settings.nextID()
        }
        #expect((0..<4).contains(settings.connectedCount))
        #expect(settings.nextID() == 8_001)
    }

    @Test func theEventLoopsJobs() async throws {
        let owner = EventLoopOwner()
        let count = Box()
        try await together { _ in owner.loop.execute { count.value += 1 } }
        // Touched by the loop's thread alone; read here once that has said so, through the loop.
        let total = await withCheckedContinuation { continuation in
            owner.loop.execute { continuation.resume(returning: count.value) }
        }
        #expect(total == 8_000)
    }

    /// Unsafe but for the one thread that touches it, which is what is being tested.
    private final class Box: Sendable { nonisolated(unsafe) var value = 0 }
}
