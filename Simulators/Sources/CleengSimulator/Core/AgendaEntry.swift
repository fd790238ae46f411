/// What is to happen at a time; the lesser happens first.
protocol AgendaEntry: Comparable, Sendable {
    var dueAt: Moment { get }
}
