import NIOConcurrencyHelpers

/// The migrations that were reported as applied.
final class Applied: Sendable {
    private let box = NIOLockedValueBox<[String]>([])

    var names: [String] { box.withLockedValue { $0 } }

    func add(_ name: String) {
        box.withLockedValue { $0.append(name) }
    }
}
