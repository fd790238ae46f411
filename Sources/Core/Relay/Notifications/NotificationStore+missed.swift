public import RelayCore

/// One copy's turn to ask Apple for missed notifications of one environment.
public struct MissedNotificationsTurn: Sendable {
    let duty: Duty
    /// Time up to which no notification is missing; nil before the first query.
    public let completeUntil: Timestamp?
}

extension NotificationStore {
    /// Takes the turn. Nil while another copy has it, or while it is not due.
    ///
    /// - Parameter isSandbox: each environment has its own turn, so that an unreachable one does not delay the other.
    public func takeMissedTurn(isSandbox: Bool) async throws -> MissedNotificationsTurn? {
        guard let duty = try await relay.duties.take(isSandbox ? .missedSandboxNotifications : .missedNotifications)
        else {
            return nil
        }
        let progress = duty.progress.flatMap { Int64($0) }
        return MissedNotificationsTurn(duty: duty, completeUntil: progress.flatMap { Timestamp(datable: $0) })
    }

    /// Renews the lease. Call this at least every half minute.
    ///
    /// - Throws: if another copy has taken the turn.
    public func keep(_ turn: MissedNotificationsTurn) async throws { try await relay.duties.keep(turn.duty) }

    /// - Parameters:
    ///   - completeUntil: nil: unchanged.
    ///   - pause: time until the next turn, in any copy.
    public func end(_ turn: MissedNotificationsTurn, completeUntil: Timestamp?, pause: Duration) async throws {
        try await relay.duties.keep(turn.duty, progress: completeUntil.map { String($0.microseconds) })
        try await relay.duties.release(turn.duty, for: pause)
    }
}
