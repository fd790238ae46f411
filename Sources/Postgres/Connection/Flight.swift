/// What was sent in one go and is answered up to one synchronisation point: one implicit transaction, outside an explicit one.
struct Flight {
    /// One message that the server answers with one result.
    enum Step {
        case prepare(StatementKey, name: String)
        case execute(StatementKey, name: String?)
    }

    let id: UInt64
    /// Empty for a script, which says itself how many results it has.
    let steps: [Step]
    var answered = 0
    var results: [QueryResult] = []
    var error: PostgresError?

    struct Landed {
        let id: UInt64
        let outcome: Result<[QueryResult], PostgresError>
    }

    var landed: Landed { Landed(id: id, outcome: error.map { .failure($0) } ?? .success(results)) }
}
