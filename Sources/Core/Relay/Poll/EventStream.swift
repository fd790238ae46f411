import Hummingbird
import NIOCore
import RelayCore

/// A validation's changes as server-sent events (WHATWG HTML, section 9.2).
struct EventStream: Sendable {
    static let heartbeat = Duration.seconds(15)
    static let maximumLength = Duration.seconds(120)

    let holder: PollHolder
    let poll: PollInterval
    let channel: any Channel
    /// The key that asked.
    let key: APIKeyID

    /// Sends one `status` event for the present state and one for each change. Ends at a final status, at the maximum
    /// length or on shutdown.
    func body(of first: KnownValidation) -> ResponseBody {
        ResponseBody { writer in
            // Registers only when the body is written: a body that is never written could not unregister.
            let held = try await HeldPoll(
                holder.store.memory.changes.register(first.validation.id, key: key), on: channel)
            defer { held.end() }
            try await writer.write(ByteBuffer(string: "retry: \(poll.seconds * 1_000)\n\n"))
            // The state may have changed between the read and the registration.
            var latest = try await holder.store.purchases.known(first.validation.id) ?? first
            try await writer.write(Self.event(latest))
            let end = ContinuousClock.now + Self.maximumLength
            while !latest.validation.status.isFinalForPolling, ContinuousClock.now < end {
                let beat = min(end, .now + Self.heartbeat)
                switch try await holder.wait(held, known: PollHolder.Known(latest), until: beat) {
                case .unchanged:
                    try await writer.write(ByteBuffer(string: ": still \(latest.validation.status.name)\n\n"))
                case .changed(let known):
                    latest = known
                    try await writer.write(Self.event(latest))
                case .revoked: return try await writer.finish(nil)
                case .shutdown(let known):
                    if PollText.of(known).tag != PollText.of(latest).tag {
                        try await writer.write(Self.event(known))
                    }
                    return try await writer.finish(nil)
                }
            }
            try await writer.finish(nil)
        }
    }

    private static func event(_ known: KnownValidation) -> ByteBuffer {
        var json = PollText.of(known).body
        var event = ByteBufferAllocator().buffer(capacity: json.readableBytes + 64)
        event.writeStaticString("event: status\ndata: ")
        event.writeBuffer(&json)
        event.writeStaticString("\n\n")
        return event
    }
}
