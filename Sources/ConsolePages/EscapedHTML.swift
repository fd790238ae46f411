import Mustache

/// Escapes what a template shows, scalar by scalar. The library goes by characters, and so lets a `<` or `"` pass that makes one
/// character with a mark before or behind it (U+0600, U+0301); a browser sees the bare sign.
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
