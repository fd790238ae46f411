import Foundation
import NIOConcurrencyHelpers

extension Model {
    /// Where everybody writes down what they see, while the sequence runs.
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

        /// A look that is sent at this time or later is a follower's last.
        var lastLook: Seconds? {
            get { end.withLockedValue { $0 } }
            set { end.withLockedValue { $0 = newValue } }
        }

        /// Measures the machine, until cancelled: a nap that takes longer than it should.
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
