import Foundation
import Operations
import RelayStore

/// Who runs a command, as timelines and the audit log name them: the account. Whoever runs it has the database.
enum ShellUser {
    static var actor: Actor {
        Actor(
            name: "\(ProcessInfo.processInfo.environment["USER"] ?? NSUserName()) (command line)", scope: .all)
    }
}
