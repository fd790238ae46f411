/// Tables for spreadsheets (RFC 4180). Values come from apps and stores, so none may become a formula.
extension Table {
    /// - Parameters:
    ///   - dropped: columns that are only links or controls.
    ///   - hasHeader: whether column names come first.
    func csv(dropping dropped: Set<String> = [], hasHeader: Bool) -> String {
        let kept = columns.indices.filter { !dropped.contains(columns[$0]) }
        var lines = hasHeader ? [kept.map { columns[$0] }] : []
        lines += rows.map { row in kept.map { row.cells[$0].plain } }
        return lines.map { $0.map(Self.field).joined(separator: ",") + "\r\n" }.joined()
    }

    /// A quoted field. An apostrophe precedes text that a spreadsheet would evaluate.
    static func field(_ text: String) -> String {
        let isFormula = text.unicodeScalars.first.map { Self.formulaBegins.contains($0) } ?? false
        return "\"" + (isFormula ? "'" : "") + doubled(text) + "\""
    }

    /// Doubles quotation marks scalar by scalar. A combining mark after one joins it into one character, but a
    /// spreadsheet still ends the field there.
    private static func doubled(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            scalars.append(scalar)
            if scalar == "\"" { scalars.append(scalar) }
        }
        return String(scalars)
    }

    /// Characters that begin a formula, with their fullwidth forms, which some spreadsheets accept too.
    private static let formulaBegins: Set<Unicode.Scalar> = [
        "=", "+", "-", "@", "\t", "\r", "\n", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}",
    ]
}

extension Table.Cell {
    /// The text without the placeholder for an empty value.
    fileprivate var plain: String {
        let text = text == Self.nothing ? "" : text
        guard let aside else { return text }
        return text.isEmpty ? aside : "\(text) (\(aside))"
    }
}
