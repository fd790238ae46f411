import Formats
import Foundation
import Operations

/// What `--json` prints: as the ops API has it, in lines.
enum JSONOutput {
    static func write(_ write: (inout JSONWriter) throws -> Void) throws {
        var writer = JSONWriter(capacity: 4_096)
        try write(&writer)
        let value = try JSONSerialization.jsonObject(with: Data(writer.bytes), options: .fragmentsAllowed)
        let lines = try JSONSerialization.data(
            withJSONObject: value, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed])
        print(String(decoding: lines, as: UTF8.self))
    }

    static func write(_ item: some Viewed) throws { try write { $0.value(item) } }

    static func write<Item: Viewed>(_ items: [Item]) throws {
        try write { writer in
            writer.beginArray()
            for item in items { writer.value(item) }
            writer.endArray()
        }
    }
}
