/// Why the schema was left as it is.
public struct MigrationError: Error, Equatable, CustomStringConvertible {
    private enum Code: Equatable {
        case edited(String)
        case unknown(Int)
    }

    private let code: Code

    /// A migration that was applied reads otherwise now.
    static func edited(_ name: String) -> MigrationError { MigrationError(code: .edited(name)) }
    /// The database has a migration that this version does not know.
    static func unknown(_ number: Int) -> MigrationError { MigrationError(code: .unknown(number)) }

    public var description: String {
        switch code {
        case .edited(let name):
            "migration \(name) was edited after it had been applied: restore the file and put the change into a new one"
        case .unknown(let number):
            "the database has migration \(number), which this version does not know: use the version that applied it, or a newer one"
        }
    }
}
