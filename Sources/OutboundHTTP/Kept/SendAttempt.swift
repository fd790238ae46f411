/// How far a request had come when its connection ended.
enum SendAttempt: Equatable, Sendable {
    /// The connection had ended before the request was written.
    case notWritten
    /// The kernel refused the only write of it.
    case refused
    /// The kernel took some of it, or may have.
    case maybeSent

    /// Whether the request may be sent on another connection.
    ///
    /// Only where the server cannot have seen any of it. A second purchase moves a subscription back that a newer one has moved since.
    ///
    /// - Parameters:
    ///   - isEncrypted: then several writes may follow one another, and the refusal of one says nothing of those before it.
    ///   - attempts: connections that the request was assigned to.
    func mayBeRepeated(isEncrypted: Bool, attempts: Int) -> Bool {
        guard attempts < Self.mostAttempts else { return false }
        return switch self {
        case .notWritten: true
        case .refused: !isEncrypted
        case .maybeSent: false
        }
    }

    static let mostAttempts = 8
}
