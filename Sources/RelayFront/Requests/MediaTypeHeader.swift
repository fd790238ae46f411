import HTTPTypes
import RelayCore

/// What `Content-Type` and `Content-Encoding` say of a body that should be JSON.
enum MediaTypeHeader {
    /// Absent counts as JSON: simple clients leave it out, and the body shows soon enough what it is.
    static func isJSON(_ value: String?) -> Bool {
        guard let value else { return true }
        let parts = value.parts(at: ";")
        let type = trimmed(parts[0])
        guard type == "application/json" || (type.hasBytes(first: "application/") && type.hasBytes(last: "+json"))
        else {
            return false
        }
        for parameter in parts.dropFirst() {
            let text = trimmed(parameter)
            guard text.hasBytes(first: "charset=") else { continue }
            let charset = text.droppingBytes(first: "charset=".utf8.count).filter { $0 != "\"" }
            guard ["utf-8", "utf8", "us-ascii"].contains(charset) else { return false }
        }
        return true
    }

    static func isIdentity(_ value: String?) -> Bool {
        value.map { trimmed($0[...]).isEmpty || trimmed($0[...]) == "identity" } ?? true
    }

    private static func trimmed(_ text: Substring) -> String {
        text.trimmingSpace().lowercased()
    }
}
