import NIOConcurrencyHelpers
import NIOCore

/// One request and the caller that waits for its answer. The first end counts; later ones do nothing.
final class KeptCall: Sendable {
    typealias Answer = Result<HTTPReply, OutboundError>
    typealias Caller = CheckedContinuation<Answer, Never>

    private struct State {
        var caller: Caller?
        var answer: Answer?
        /// Set while it waits for a connection. Afterwards the connection's own alarm ends it.
        var alarm: Scheduled<Void>?
        var attempts = 0
    }

    /// Head and body.
    let request: ByteBuffer
    let deadline: NIODeadline
    let maxBodyBytes: Int
    /// Time for the body, from the head of the answer on.
    let bodyTimeout: TimeAmount?
    private let state = NIOLockedValueBox(State())

    init(
        _ request: ByteBuffer, by deadline: NIODeadline, atMost maxBodyBytes: Int,
        bodyWithin bodyTimeout: TimeAmount? = nil
    ) {
        self.request = request
        self.deadline = deadline
        self.maxBodyBytes = maxBodyBytes
        self.bodyTimeout = bodyTimeout
    }

    /// Nil until it has ended.
    var answer: Answer? { state.withLockedValue { $0.answer } }
    var attempts: Int { state.withLockedValue { $0.attempts } }

    /// Sets who is resumed with the answer: at once where the call has ended already.
    func begin(_ caller: Caller) {
        let answer = state.withLockedValue { state in
            if state.answer == nil { state.caller = caller }
            return state.answer
        }
        if let answer { caller.resume(returning: answer) }
    }

    /// Counts one more connection that the call was assigned to.
    ///
    /// - Returns: false where it has ended, so that nothing is to be sent.
    func startAttempt() -> Bool {
        state.withLockedValue { state in
            state.attempts += 1
            return state.answer == nil
        }
    }

    /// Keeps an alarm until the call ends.
    func keep(_ alarm: Scheduled<Void>) {
        let old = state.withLockedValue { state in
            guard state.answer == nil else { return alarm as Scheduled<Void>? }
            let old = state.alarm
            state.alarm = alarm
            return old
        }
        old?.cancel()
    }

    /// Ends the call; once more does nothing.
    func end(_ answer: Answer) {
        let (caller, alarm) = state.withLockedValue { state -> (Caller?, Scheduled<Void>?) in
            guard state.answer == nil else { return (nil, nil) }
            state.answer = answer
            defer { (state.caller, state.alarm) = (nil, nil) }
            return (state.caller, state.alarm)
        }
        alarm?.cancel()
        caller?.resume(returning: answer)
    }
}

extension KeptCall: Hashable {
    static func == (one: KeptCall, other: KeptCall) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
