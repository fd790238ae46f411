/// A synchronization that will be finalized.
struct Settlement: AgendaEntry {
    let dueAt: Moment
    let synchronization: Synchronization

    static func < (left: Settlement, right: Settlement) -> Bool {
        (left.dueAt, left.synchronization.sequence) < (right.dueAt, right.synchronization.sequence)
    }

    static func == (left: Settlement, right: Settlement) -> Bool {
        left.synchronization.sequence == right.synchronization.sequence
    }
}
