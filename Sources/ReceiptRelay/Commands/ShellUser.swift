import Foundation
import RelayCore
import RelayStore

/// Who runs a command, as timelines and the audit log name them.
enum ShellUser {
    static var name: String {
        "\(ProcessInfo.processInfo.environment["USER"] ?? NSUserName()) (command line)"
    }
}

extension RelayStore {
    /// Writes down what a command has done.
    /// - Parameter publisher: whose ops keys see it; nil: those of all publishers alone.
    func note(
        _ action: AuditEntry.Action, _ target: String, of publisher: PublisherID? = nil, reason: String? = nil
    ) async throws {
        try await audit(AuditEntry(actor: ShellUser.name, action, target, of: publisher, reason: reason))
    }
}
