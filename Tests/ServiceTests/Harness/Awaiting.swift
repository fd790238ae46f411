import Foundation
import TestRun

/// Checks a condition repeatedly until it holds, with a time limit.
enum Awaiting {
    struct NeverHeld: Error, CustomStringConvertible {
        let fact: String
        let last: String
        var description: String { "it never came true that \(fact); last seen: \(last)" }
    }

    /// Limit of a wait. It is long, since a slow machine is no failure of the tested code.
    static let patience = Duration.seconds(120).paced

    /// - Returns: the first value that satisfies the condition.
    @discardableResult
    static func fact<T: Sendable>(
        _ fact: String, within limit: Duration = patience, of look: () async throws -> T,
        holds: (T) -> Bool
    ) async throws -> T {
        let end = ContinuousClock.now + limit
        // Each look costs CPU, and all tests share the machine.
        var pause = Duration.milliseconds(5)
        while true {
            let value = try await look()
            if holds(value) { return value }
            guard ContinuousClock.now < end else { throw NeverHeld(fact: fact, last: "\(value)") }
            try await Task.sleep(for: pause)
            pause = min(pause * 1.4, .milliseconds(80))
        }
    }

    /// - Returns: `value`, once `look` returns it.
    @discardableResult
    static func fact<T: Sendable & Equatable>(
        _ fact: String, is value: T, within limit: Duration = patience, of look: () async throws -> T
    ) async throws -> T {
        try await Self.fact(fact, within: limit, of: look, holds: { $0 == value })
    }
}
