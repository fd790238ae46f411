/// Names as Prometheus takes them.
enum PrometheusName {
    /// A metric name: `[a-zA-Z_:][a-zA-Z0-9_:]*`, all else replaced by underscores.
    static func metric(_ label: String) -> String {
        sanitised(label, allowsColon: true)
    }

    /// A label name: `[a-zA-Z_][a-zA-Z0-9_]*`. A leading `__` is Prometheus' own and loses one underscore; `le` belongs
    /// to histograms.
    static func label(_ name: String) -> String {
        var name = sanitised(name, allowsColon: false)
        while name.hasPrefix("__") { name.removeFirst() }
        return name == "le" ? "le_" : name
    }

    static func withSuffix(_ suffix: String, _ name: String) -> String {
        name.hasSuffix(suffix) ? name : name + suffix
    }

    private static func sanitised(_ text: String, allowsColon: Bool) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 1)
        for byte in text.utf8.prefix(200) {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                if bytes.isEmpty { bytes.append(UInt8(ascii: "_")) }
                bytes.append(byte)
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): bytes.append(byte)
            case UInt8(ascii: ":") where allowsColon: bytes.append(byte)
            default: bytes.append(UInt8(ascii: "_"))
            }
        }
        return bytes.isEmpty ? "_" : String(decoding: bytes, as: UTF8.self)
    }
}
