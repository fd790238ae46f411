/// Tables for spreadsheets (RFC 4180). What stands in them comes from apps and stores, so nothing of it may become a formula.
extension Table {
    /// - Parameters:
    ///   - dropped: columns that are for clicking.
    ///   - hasHeader: whether the columns' names come first.
    public func csv(dropping dropped: Set<String> = [], hasHeader: Bool) -> String {
        let kept = columns.indices.filter { !dropped.contains(columns[$0]) }
        var lines = hasHeader ? [kept.map { columns[$0] }] : []
        lines += rows.map { row in kept.map { row.cells[$0].plain } }
        return lines.map { $0.map(Self.field).joined(separator: ",") + "\r\n" }.joined()
    }

    /// In quotation marks; what a spreadsheet would calculate begins with an apostrophe.
    static func field(_ text: String) -> String {
        let isFormula = text.unicodeScalars.first.map { Self.formulaBegins.contains($0) } ?? false
        return "\"" + (isFormula ? "'" : "") + doubled(text) + "\""
    }

    /// Doubles quotation marks scalar by scalar: a combining mark behind one joins it to one character, and a
    /// spreadsheet still ends the field there.
    private static func doubled(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            scalars.append(scalar)
            if scalar == "\"" { scalars.append(scalar) }
        }
        return String(scalars)
    }

    /// With their wide forms, which some spreadsheets take for the same.
    private static let formulaBegins: Set<Unicode.Scalar> = [
        "=", "+", "-", "@", "\t", "\r", "\n", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}",
    ]
}

extension Table.Cell {
    /// Without what only fills it.
    fileprivate var plain: String {
        let text = text == Self.nothing ? "" : text
        guard let aside else { return text }
        return text.isEmpty ? aside : "\(text) (\(aside))"
    }
}
