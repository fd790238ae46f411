/// A statement, or a part of one, with the values in the places where they are used:
///
///     let claim: SQL = "UPDATE jobs SET owner = \(.text(owner)) WHERE id = \(.uuid(id)) AND \(isDue)"
///
/// A value becomes a parameter; its text never becomes a part of the statement. Another `SQL` is put in as it is, with its values. A
/// table of values (``SQLTable``) becomes `unnest`. Text that the program makes itself is put in by `\(unescaped:)`.
public struct SQL: Sendable, ExpressibleByStringInterpolation {
    /// What stands before, between and behind the values.
    private var pieces: [String] = [""]
    public private(set) var parameters: [PostgresValue] = []
    /// The server plans it each time, for these parameters and for its tables as they are by then, and keeps nothing of it. For
    /// tables that are empty most of the time: a plan that is kept from such a time reads them from end to end when they are full.
    public private(set) var isPlannedAnew = false

    public init(stringLiteral text: String) { pieces = [text] }

    public init(stringInterpolation: StringInterpolation) { self = stringInterpolation.sql }

    /// - Parameter text: made by the program, with no values in it.
    public init(unescaped text: String) { pieces = [text] }

    /// A statement with its values apart from it. It cannot be a part of another.
    ///
    /// - Parameters:
    ///   - text: with the values in it as `$1` and so on.
    ///   - values: in the order of their numbers.
    ///   - isPlannedAnew: as ``isPlannedAnew`` says.
    public init(_ text: String, _ values: [PostgresValue] = [], isPlannedAnew: Bool = false) {
        pieces = [text]
        parameters = values
        self.isPlannedAnew = isPlannedAnew
    }

    /// The same, with ``isPlannedAnew``.
    public var plannedAnew: SQL {
        var sql = self
        sql.isPlannedAnew = true
        return sql
    }

    /// With `$1` in the place of the first value.
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

        /// Text that the program makes itself: never what came from outside.
        public mutating func appendInterpolation(unescaped text: String) { sql.append(text) }

        /// A constant by its name; the number itself becomes a part of the text.
        public mutating func appendInterpolation<Constant: RawRepresentable<Int16>>(_ constant: Constant) {
            sql.append(String(constant.rawValue))
        }

        /// `unnest($1, …) AS name(bucket, …)`.
        ///
        /// - Parameters:
        ///   - table: of it the names and the values of the columns.
        ///   - name: of the rows in the statement.
        ///   - ordinal: the name of one more column, which counts the rows from 1.
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

/// Values of many rows, by column: each an array, all of one length.
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
    /// The parts one behind the other.
    public func joined(_ separator: SQL) -> SQL {
        dropFirst().reduce(first ?? "") { "\($0)\(separator)\($1)" }
    }
}
