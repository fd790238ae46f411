import NIOConcurrencyHelpers
import Testing

@testable import Relay

@Suite("The limit of concurrent calls")
struct CallLimitTests {
    private struct Seen {
        var running: [String: Int] = [:]
        var most: [String: Int] = [:]
        var ended = 0
    }

    @Test("holds for each tenant, and every call gets its place")
    func places() async {
        let limit = CallLimit<String>(each: 3)
        let seen = NIOLockedValueBox(Seen())
        await withTaskGroup { group in
            for number in 0..<300 {
                let tenant = number % 2 == 0 ? "one" : "other"
                group.addTask {
                    await limit.call(for: tenant) {
                        seen.withLockedValue {
                            $0.running[tenant, default: 0] += 1
                            $0.most[tenant] = max($0.most[tenant] ?? 0, $0.running[tenant] ?? 0)
                        }
                        await Task.yield()
                        seen.withLockedValue {
                            $0.running[tenant, default: 0] -= 1
                            $0.ended += 1
                        }
                    }
                }
            }
        }
        let end = seen.withLockedValue { $0 }
        #expect(end.ended == 300 && end.most.values.allSatisfy { $0 <= 3 }, "\(end)")
    }

    @Test("a tenant whose calls hang delays no other")
    func hanging() async {
        let limit = CallLimit<String>(each: 1)
        let (hanging, open) = AsyncStream<Void>.makeStream()
        let slow = Task { await limit.call(for: "slow") { for await _ in hanging { break } } }
        #expect(await limit.call(for: "quick") { true })
        open.finish()
        await slow.value
    }
}
