/// How much of a request was sent before its connection ended.
enum SendAttempt: Equatable, Sendable {
    /// The connection had ended before the request was written.
    case notWritten
    /// The kernel refused the request's only write.
    case refused
    /// The kernel took part of the request, or may have.
    case maybeSent

    /// Whether the request may be sent on another connection.
    ///
    /// A repeat is safe only if the server cannot have seen any of it. A purchase that is sent twice moves a
    /// subscription back if a newer purchase has moved it in the meantime.
    ///
    /// - Parameters:
    ///   - isEncrypted: whether the connection uses TLS. A request may then take several writes, and a refused one may
    ///     follow others that the kernel took.
    ///   - attempts: number of connections that the request was assigned to.
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
