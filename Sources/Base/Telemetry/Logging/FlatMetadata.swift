import Logging

/// Metadata whose nested dictionaries are flattened under dotted keys: sorted, without duplicate keys, bounded in depth
/// and number.
struct FlatMetadata {
    struct Entry {
        var key: String
        var value: Logger.MetadataValue
    }

    private static let maximumDepth = 4
    private static let maximumEntries = 256
    private static let ownKeys: Set<String> = ["timestamp", "level", "logger", "message", "truncated"]

    private(set) var entries: [Entry] = []
    /// False if entries were left out because there were too many.
    private(set) var isComplete = true

    init(_ metadata: Logger.Metadata, errorIsTaken: Bool) {
        // In sorted order, so that the same entries are left out each time.
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
            let taken = Self.ownKeys.contains(key) || (errorIsTaken && key == "error")
            add(value, key: taken ? "metadata." + key : key, depth: 1)
        }
        guard entries.count > 1 else { return }
        entries.sort { $0.key < $1.key }
        var last: String?
        entries.removeAll { entry in
            defer { last = entry.key }
            return entry.key == last
        }
    }

    private mutating func add(_ value: Logger.MetadataValue, key: String, depth: Int) {
        guard entries.count < Self.maximumEntries else {
            isComplete = false
            return
        }
        guard case .dictionary(let nested) = value else {
            return entries.append(Entry(key: key, value: value))
        }
        guard depth < Self.maximumDepth else {
            return entries.append(Entry(key: key, value: "…"))
        }
        for (name, value) in nested.sorted(by: { $0.key < $1.key }) {
            add(value, key: key + "." + name, depth: depth + 1)
        }
    }
}
