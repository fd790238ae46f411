/// All that is ever shown of a publisher token.
enum TokenPresence: String, Sendable {
    case present
    case wrong
    case absent

    init(_ token: String?, expected: String) {
        self = token.map { $0 == expected ? .present : .wrong } ?? .absent
    }
}
