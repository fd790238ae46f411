import Logging
import NIOConcurrencyHelpers
import Testing

@testable import Relay

@Suite struct FeedLoopTests {
    private struct Broken: Error {}

    private struct Lines: LogHandler {
        let box: NIOLockedValueBox<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            box.withLockedValue { $0.append("\(event.level) \(event.metadata?["feed"] ?? "")") }
        }
    }

    @Test("a feed that fails is read again, with one line for the failures in a row and one for their end")
    func failing() async {
        let (lines, steps) = (NIOLockedValueBox<[String]>([]), NIOLockedValueBox(0))
        let loop = FeedLoop(
            name: "changes", tick: .milliseconds(1), logger: Logger(label: "test") { _ in Lines(box: lines) })
        let running = Task {
            await loop.run {
                let step = steps.withLockedValue { steps in
                    steps += 1
                    return steps
                }
                // Two failures, a success, a failure, a success.
                if [1, 2, 4].contains(step) { throw Broken() }
                // A feed that is cancelled while it reads is no failure.
                if step > 5 {
                    withUnsafeCurrentTask { $0?.cancel() }
                    throw CancellationError()
                }
            }
        }
        await running.value
        #expect(
            lines.withLockedValue { $0 } == ["warning changes", "notice changes", "warning changes", "notice changes"])
        #expect(steps.withLockedValue { $0 } == 6)
    }
}
