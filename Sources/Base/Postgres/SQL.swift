/// A statement, or a part of one, with its values in place:
///
///     let claim: SQL = "UPDATE jobs SET owner = \(.text(owner)) WHERE id = \(.uuid(id)) AND \(isDue)"
///
/// A value becomes a parameter, never a part of the statement's text. Another `SQL` is inserted with its text and
/// values. A table of values (``SQLTable``) becomes `unnest`. Text that the program makes itself is inserted by
/// `\(unescaped:)`.
public struct SQL: Sendable, ExpressibleByStringInterpolation {
    /// Text before, between and after the values.
    private var pieces: [String] = [""]
    public private(set) var parameters: [PostgresValue] = []
    /// Whether the server plans the statement each time, for the current parameters and tables, and does not keep the
    /// plan. For tables that are empty most of the time: a plan kept from such a time scans the whole table when it is
    /// full.
    public private(set) var isPlannedAnew = false

    public init(stringLiteral text: String) { pieces = [text] }

    public init(stringInterpolation: StringInterpolation) { self = stringInterpolation.sql }

    /// - Parameter text: made by the program, without values.
    public init(unescaped text: String) { pieces = [text] }

    /// Creates a statement with separate values. It cannot be a part of another.
    ///
    /// - Parameters:
    ///   - text: contains the values as `$1` and so on.
    ///   - values: in the order of their numbers.
    ///   - isPlannedAnew: see ``isPlannedAnew``.
    public init(_ text: String, _ values: [PostgresValue] = [], isPlannedAnew: Bool = false) {
        pieces = [text]
        parameters = values
        self.isPlannedAnew = isPlannedAnew
    }

    /// The same statement, with ``isPlannedAnew`` set.
    public var plannedAnew: SQL {
        var sql = self
        sql.isPlannedAnew = true
        return sql
    }

    /// The statement's text, with `$1` for the first value.
    public var text: String {
        guard pieces.count > 1 else { return pieces[0] }
        var text = ""
        text.reserveCapacity(pieces.reduce(pieces.count * 3) { $0 + $1.utf8.count })
        text += pieces[0]
        for number in 1..<pieces.count {
            text += "$"
            text += String(number)
            text += pieces[number]
        }
        return text
    }

    public static func + (left: SQL, right: SQL) -> SQL { "\(left)\(right)" }

    fileprivate mutating func append(_ text: String) { pieces[pieces.count - 1] += text }

    fileprivate mutating func append(_ value: PostgresValue) {
        parameters.append(value)
        pieces.append("")
    }

    fileprivate mutating func append(_ other: SQL) {
        append(other.pieces[0])
        pieces += other.pieces.dropFirst()
        parameters += other.parameters
        isPlannedAnew = isPlannedAnew || other.isPlannedAnew
    }

    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var sql = SQL(unescaped: "")

        public init(literalCapacity: Int, interpolationCount: Int) {
            sql.pieces[0].reserveCapacity(interpolationCount == 0 ? literalCapacity : 0)
            sql.pieces.reserveCapacity(interpolationCount + 1)
            sql.parameters.reserveCapacity(interpolationCount)
        }

        public mutating func appendLiteral(_ literal: String) { sql.append(literal) }

        public mutating func appendInterpolation(_ value: PostgresValue) { sql.append(value) }

        public mutating func appendInterpolation(_ part: SQL) { sql.append(part) }

        /// Inserts text that the program makes itself: never text from outside.
        public mutating func appendInterpolation(unescaped text: String) { sql.append(text) }

        /// Inserts a constant; its number becomes a part of the text.
        public mutating func appendInterpolation<Constant: RawRepresentable<Int16>>(_ constant: Constant) {
            sql.append(String(constant.rawValue))
        }

        /// Inserts `unnest($1, …) AS name(bucket, …)`.
        ///
        /// - Parameters:
        ///   - table: names and values of the columns.
        ///   - name: name of the rows in the statement.
        ///   - ordinal: name of an additional column that counts the rows from 1.
        public mutating func appendInterpolation(_ table: SQLTable, as name: String, ordinal: String? = nil) {
            sql.append("unnest(")
            for (number, column) in table.columns.enumerated() {
                if number > 0 { sql.append(", ") }
                sql.append(column.value)
            }
            sql.append(ordinal == nil ? ") AS " : ") WITH ORDINALITY AS ")
            sql.append("\(name)(\((table.columns.map(\.name) + [ordinal].compactMap(\.self)).joined(separator: ", ")))")
        }
    }
}

/// Values of many rows, by column: one array for each column, all of the same length.
public struct SQLTable: Sendable, ExpressibleByDictionaryLiteral {
    public private(set) var columns: [(name: String, value: PostgresValue)]

    public init(dictionaryLiteral elements: (String, PostgresValue)...) { columns = elements.map { ($0, $1) } }

    public static func + (left: SQLTable, right: SQLTable) -> SQLTable {
        var table = left
        table.columns += right.columns
        return table
    }
}

extension [SQL] {
    /// The parts, joined by a separator.
    public func joined(_ separator: SQL) -> SQL {
        dropFirst().reduce(first ?? "") { "\($0)\(separator)\($1)" }
    }
}
