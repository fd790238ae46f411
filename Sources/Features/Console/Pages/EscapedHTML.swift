import Mustache

/// Escapes values scalar by scalar. The library escapes by characters, so it misses a `<` or `"` that forms one
/// character with a neighboring mark (U+0600, U+0301). A browser still sees the sign.
struct EscapedHTML: MustacheContentType {
    static let name = "ESCAPED"

    func escapeText(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
            case "'": escaped.append(contentsOf: "&#39;".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
