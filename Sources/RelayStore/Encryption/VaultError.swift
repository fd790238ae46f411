/// Why what is private can be neither sealed nor opened.
public enum VaultError: Error, Equatable, CustomStringConvertible {
    case noKey
    case wrongKey(wanted: String)
    case databaseIsPlain
    case underWay(String)
    case cannotWrap
    case notSealed
    case copiesRun([String])
    /// Tables with their counts, and the command.
    case rowsLeft([String], String)
    case unreadableRow(String, why: String)

    public var description: String {
        switch self {
        case .noKey: "what is private in this database is sealed: set RELAY_ENCRYPTION_KEYS"
        case .wrongKey(let wanted):
            "none of RELAY_ENCRYPTION_KEYS is \(wanted), which the database's keys are wrapped by"
        case .databaseIsPlain:
            "RELAY_ENCRYPTION_KEYS is set and the database is not sealed: stop all copies and run `receipt-relay encryption enable`"
        case .underWay(let command): "run `receipt-relay encryption \(command)` again: it did not come to its end"
        case .cannotWrap: "a data key could not be wrapped"
        case .notSealed: "the database is not sealed"
        case .copiesRun(let names): "stop all copies first; these run: \(names.joined(separator: ", "))"
        case .unreadableRow(let row, let why): "\(row) cannot be opened (\(why)): mend or delete it, and run this again"
        case .rowsLeft(let counts, let command):
            "rows were written meanwhile (\(counts.joined(separator: ", "))): stop all copies and run `receipt-relay encryption \(command)` again"
        }
    }
}
