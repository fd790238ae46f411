/// A receipt that its owner sent once more: it changes nothing, and an event says so when it has been looked at.
struct Synchronization: AgendaEntry {
    let sequence: Int
    let dueAt: Moment
    let originalTransactionId: String
    let email: CustomerEmail
    let offerId: OfferId

    static func < (left: Synchronization, right: Synchronization) -> Bool {
        (left.dueAt, left.sequence) < (right.dueAt, right.sequence)
    }

    static func == (left: Synchronization, right: Synchronization) -> Bool { left.sequence == right.sequence }
}
