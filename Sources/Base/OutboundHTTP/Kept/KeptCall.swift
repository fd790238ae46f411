import NIOConcurrencyHelpers
import NIOCore

/// One request and the caller that waits for its answer. Only the first end counts.
final class KeptCall: Sendable {
    typealias Answer = Result<HTTPReply, OutboundError>
    typealias Caller = CheckedContinuation<Answer, Never>

    private struct State {
        var caller: Caller?
        var answer: Answer?
        /// Deadline alarm while the call waits for a connection. Afterwards the connection's own alarm ends the call.
        var alarm: Scheduled<Void>?
        var attempts = 0
    }

    /// Head and body as bytes.
    let request: ByteBuffer
    let deadline: NIODeadline
    let maxBodyBytes: Int
    /// Time limit for the body, which starts with the head of the answer.
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

    /// Nil until the call has ended.
    var answer: Answer? { state.withLockedValue { $0.answer } }
    var attempts: Int { state.withLockedValue { $0.attempts } }

    /// Sets the caller to resume with the answer. Resumes it at once if the call has already ended.
    func begin(_ caller: Caller) {
        let answer = state.withLockedValue { state in
            if state.answer == nil { state.caller = caller }
            return state.answer
        }
        if let answer { caller.resume(returning: answer) }
    }

    /// Counts one more connection that the call was assigned to.
    ///
    /// - Returns: false if the call has ended; then nothing must be sent.
    func startAttempt() -> Bool {
        state.withLockedValue { state in
            state.attempts += 1
            return state.answer == nil
        }
    }

    /// Stores an alarm, which is cancelled when the call ends.
    func keep(_ alarm: Scheduled<Void>) {
        let old = state.withLockedValue { state in
            guard state.answer == nil else { return alarm as Scheduled<Void>? }
            let old = state.alarm
            state.alarm = alarm
            return old
        }
        old?.cancel()
    }

    /// Ends the call. Does nothing if it has already ended.
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
