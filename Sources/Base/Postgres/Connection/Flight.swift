/// Statements that are sent together and answered up to one synchronization point. Outside an explicit transaction,
/// they are one implicit transaction.
struct Flight {
    /// One message that the server answers with one result.
    enum Step {
        case prepare(StatementKey, name: String)
        case execute(StatementKey, name: String?)
    }

    let id: UInt64
    /// Empty for a script, whose number of results is unknown beforehand.
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
