import Foundation
import RelayStore

/// Who runs a command, as timelines and the audit log name them.
enum ShellUser {
    static var name: String {
        "\(ProcessInfo.processInfo.environment["USER"] ?? NSUserName()) (command line)"
    }
}

extension RelayStore {
    /// Writes down what a command has done.
    func note(_ action: AuditEntry.Action, _ target: String, reason: String? = nil) async throws {
        try await audit(AuditEntry(actor: ShellUser.name, action, target, reason: reason))
    }
}
