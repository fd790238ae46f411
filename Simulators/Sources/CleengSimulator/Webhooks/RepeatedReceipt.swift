/// A receipt that its owner sent once more: it changes nothing, and an event says so when it has been looked at.
struct RepeatedReceipt: AgendaEntry {
    let sequence: Int
    let dueAt: Moment
    let originalTransactionId: String
    let email: CustomerEmail
    let offerId: OfferId

    static func < (left: RepeatedReceipt, right: RepeatedReceipt) -> Bool {
        (left.dueAt, left.sequence) < (right.dueAt, right.sequence)
    }

    static func == (left: RepeatedReceipt, right: RepeatedReceipt) -> Bool { left.sequence == right.sequence }
}
