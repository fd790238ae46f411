/// A label set as written between the braces of a sample. Sorted by name, so that equal sets have equal text.
struct PrometheusLabels: Hashable, Comparable {
    private static let maximumValueBytes = 256
    private static let maximumLabels = 32

    /// `method="GET",route="/x"`; empty for no labels.
    let text: String

    /// Label set that counts everything beyond a family's limit.
    static let overflow = PrometheusLabels([("overflow", "true")])

    init(_ dimensions: [(String, String)]) {
        guard !dimensions.isEmpty else {
            text = ""
            return
        }
        var values: [String: String] = [:]
        // Prometheus treats an empty value as an absent label.
        for (name, value) in dimensions.prefix(Self.maximumLabels) where !value.isEmpty {
            values[PrometheusName.label(name)] = value
        }
        var text = ""
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            if !text.isEmpty { text += "," }
            text += name
            text += "=\""
            Self.append(value, to: &text)
            text += "\""
        }
        self.text = text
    }

    /// - Parameter one: the text of a single label.
    func contains(_ one: String) -> Bool { ",\(text),".contains(",\(one),") }

    static func < (left: Self, right: Self) -> Bool {
        left.text < right.text
    }

    /// `{…}`, with an `extra` label such as a bucket's bound at the end; empty if there is no label.
    func braced(extra: String = "") -> String {
        let separator = text.isEmpty || extra.isEmpty ? "" : ","
        return text.isEmpty && extra.isEmpty ? "" : "{\(text)\(separator)\(extra)}"
    }

    private static func append(_ value: String, to text: inout String) {
        var bytesLeft = maximumValueBytes
        for scalar in value.unicodeScalars {
            bytesLeft -= scalar.utf8.count
            guard bytesLeft >= 0 else {
                text += "…"
                return
            }
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            // Prometheus' parser takes a zero byte for the end of the text.
            case _ where scalar.value < 0x20 || scalar.value == 0x7F: text += " "
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
