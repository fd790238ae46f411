import Foundation
import NIOConcurrencyHelpers

extension Model {
    /// Collects what clients and copies observe while the sequence runs.
    final class Journal: Sendable {
        private let origin = Date.now
        private let state = NIOLockedValueBox(History())
        private let end = NIOLockedValueBox<Seconds?>(nil)

        var now: Seconds { Date.now.timeIntervalSince(origin) }
        var history: History { state.withLockedValue { $0 } }

        func seconds(_ date: Date) -> Seconds { date.timeIntervalSince(origin) }
        /// - Parameter epoch: seconds since 1970.
        func seconds(epoch: Double) -> Seconds { epoch - origin.timeIntervalSince1970 }

        func note(_ change: @Sendable (inout History) -> Void) { state.withLockedValue { change(&$0) } }

        /// Time of a client's last poll: a client stops after a poll that it sent then or later.
        var lastLook: Seconds? {
            get { end.withLockedValue { $0 } }
            set { end.withLockedValue { $0 = newValue } }
        }

        /// Measures the machine's delays until cancelled, by how much too long a short sleep takes.
        func watchStalls() async {
            let nap = 0.02
            while !Task.isCancelled {
                let began = now
                guard (try? await Task.sleep(for: .seconds(nap))) != nil else { return }
                let over = now - began - nap
                state.withLockedValue { $0.stall = max($0.stall, over) }
            }
        }
    }
}
