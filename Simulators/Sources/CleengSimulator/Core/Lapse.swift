/// The end of a subscription whose renewal was not paid for, unless something newer is heard of it before.
struct Lapse: AgendaEntry {
    let dueAt: Moment
    let originalTransactionId: String

    static func < (left: Lapse, right: Lapse) -> Bool {
        (left.dueAt, left.originalTransactionId) < (right.dueAt, right.originalTransactionId)
    }
}
