public import RelayCore

/// One copy's turn to ask for notifications of one environment that did not get through.
public struct MissedNotificationsTurn: Sendable {
    let duty: Duty
    /// Until when nothing is missing; nil where nobody has asked yet.
    public let completeUntil: Timestamp?
}

extension NotificationStore {
    /// Nil while it is another copy's turn, or nobody's yet.
    ///
    /// - Parameter isSandbox: each environment has its own: one that cannot be asked holds the other up in nothing.
    public func takeMissedTurn(isSandbox: Bool) async throws -> MissedNotificationsTurn? {
        guard let duty = try await relay.duties.take(isSandbox ? .missedSandboxNotifications : .missedNotifications)
        else {
            return nil
        }
        let progress = duty.progress.flatMap { Int64($0) }
        return MissedNotificationsTurn(duty: duty, completeUntil: progress.flatMap { Timestamp(datable: $0) })
    }

    /// To be said at least every half a minute.
    ///
    /// - Throws: where the turn has passed to another copy.
    public func keep(_ turn: MissedNotificationsTurn) async throws { try await relay.duties.keep(turn.duty) }

    /// - Parameters:
    ///   - completeUntil: nil: as before.
    ///   - pause: until the next turn, whosesoever that is.
    public func end(_ turn: MissedNotificationsTurn, completeUntil: Timestamp?, pause: Duration) async throws {
        try await relay.duties.keep(turn.duty, progress: completeUntil.map { String($0.microseconds) })
        try await relay.duties.leave(turn.duty, for: pause)
    }
}
