import Foundation
import Testing

@testable import Postgres

/// State that threads share outside an actor, used by many threads at once without other synchronization, for
/// `scripts/sanitize`. Tests with a server pass so many locks that they seldom reveal a missing one.
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

    @Test func theIDsOfALanesConnections() async throws {
        let settings = LaneSettings(
            .shared, PostgresConfiguration(connectionString: ""), owner: EventLoopOwner(), logger: .silent,
            observer: SilentPostgresObserver())
        try await together { _ in _ = settings.nextID() }
        #expect(settings.nextID() == 8_001)
    }

    @Test func theEventLoopsJobs() async throws {
        let owner = EventLoopOwner()
        let count = Box()
        try await together { _ in owner.loop.execute { count.value += 1 } }
        // Only the loop's thread changes the value. It is read here after a reply through the loop.
        let total = await withCheckedContinuation { continuation in
            owner.loop.execute { continuation.resume(returning: count.value) }
        }
        #expect(total == 8_000)
    }

    /// Safe only if a single thread uses it, which this suite tests.
    private final class Box: Sendable { nonisolated(unsafe) var value = 0 }
}
