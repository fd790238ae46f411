/// What befalls the events that a customer causes.
struct WebhookManner: Sendable, Equatable {
    /// Payments are taken in, never granted, and an event says so.
    var refuses = false
    /// Each event is delivered twice.
    var twice = false
    /// No event is sent.
    var lost = false
    var lateMilliseconds: Int64 = 0

    /// Adds what a name such as `twice` or `late-2s` means.
    /// - Returns: false, with nothing changed, where it means nothing.
    mutating func adopt(_ words: ArraySlice<Substring>) -> Bool {
        switch (words.first, words.count) {
        case ("failed", 1): refuses = true
        case ("twice", 1): twice = true
        case ("lost", 1): lost = true
        case ("late", 2):
            guard let delay = words.last.flatMap(Disturbance.milliseconds) else { return false }
            lateMilliseconds = delay
        default: return false
        }
        return true
    }
}
