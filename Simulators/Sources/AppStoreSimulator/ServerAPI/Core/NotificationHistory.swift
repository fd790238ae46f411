/// What was told, by when it was signed.
struct NotificationHistory: Sendable {
    /// A place between two notifications.
    struct Position: Sendable, Comparable {
        let signedDate: Int64
        let sequence: Int

        static func < (left: Position, right: Position) -> Bool {
            (left.signedDate, left.sequence) < (right.signedDate, right.sequence)
        }
    }

    static let capacity = 5_000

    private(set) var items: [ToldNotification] = []
    private var nextSequence = 1

    /// Another attempt where it is known by its name already.
    mutating func add(_ told: ToldNotification, _ attempt: SendAttempt) {
        if let index = items.firstIndex(where: { $0.uuid == told.uuid }) {
            guard items[index].attempts.count < ToldNotification.mostAttempts else { return }
            items[index].attempts.append(attempt)
            return
        }
        var told = told
        told.attempts = [attempt]
        told.sequence = nextSequence
        nextSequence += 1
        let index = items.firstIndex { $0.position > told.position } ?? items.endIndex
        items.insert(told, at: index)
        if items.count > Self.capacity { items.removeFirst() }
    }
}

extension ToldNotification {
    var position: NotificationHistory.Position {
        NotificationHistory.Position(signedDate: signedDate, sequence: sequence)
    }
}
