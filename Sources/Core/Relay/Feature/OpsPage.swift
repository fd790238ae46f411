package import RelayCore

/// A list of a feature's, of one publisher, that operators see in the console.
package struct OpsPage: Sendable {
    /// Last part of its address.
    package let name: String
    package let title: String
    package let lead: String
    /// Text shown if there is nothing.
    package let empty: String
    package let columns: [String]
    package let read: @Sendable (Asked, RelayStore) async throws -> Rows

    package struct Asked: Sendable {
        package let publisher: PublisherID
        package let cursor: String?
        package let scope: OpsScope
        /// Formats timestamps.
        package let time: @Sendable (Timestamp) -> String

        package init(
            publisher: PublisherID, cursor: String?, scope: OpsScope, time: @escaping @Sendable (Timestamp) -> String
        ) {
            self.publisher = publisher
            self.cursor = cursor
            self.scope = scope
            self.time = time
        }
    }

    package struct Rows: Sendable {
        /// Texts in the order of the columns.
        package let texts: [[String?]]
        /// The next page's cursor.
        package let next: String?

        package init(texts: [[String?]] = [], next: String? = nil) {
            self.texts = texts
            self.next = next
        }
    }

    /// - Parameter read: reads one page. Ignores a cursor that is none.
    package init<Item: Viewed>(
        _ name: String, _ title: String, lead: String, empty: String,
        read: @escaping @Sendable (Asked, RelayStore) async throws -> (items: [Item], next: String?)
    ) {
        self.name = name
        self.title = title
        self.lead = lead
        self.empty = empty
        let fields = Item.fields.filter { !$0.label.isEmpty }
        columns = fields.map(\.label)
        self.read = { asked, store in
            let (items, next) = try await read(asked, store)
            return Rows(texts: items.map { item in fields.map { $0.text(item, time: asked.time) } }, next: next)
        }
    }
}
