import Foundation
import NIOConcurrencyHelpers

/// A clock that moves only when a test says so.
final class ManualTime: Sendable {
    /// In whole seconds, within the validity of certificates that are made now.
    private let moment = NIOLockedValueBox(Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down)))

    var now: Date { moment.withLockedValue { $0 } }

    func advance(_ seconds: TimeInterval) { moment.withLockedValue { $0 += seconds } }

    /// In milliseconds since 1970.
    func milliseconds(_ seconds: TimeInterval = 0) -> Int64 {
        Int64((now.timeIntervalSince1970 + seconds) * 1_000)
    }
}
