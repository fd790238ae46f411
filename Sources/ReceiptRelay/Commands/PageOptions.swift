import ArgumentParser
import Operations

/// What all lists take, and how they are told.
struct PageOptions: ParsableArguments {
    @Option(help: "How many, 1 to 1000.")
    var limit = 50

    @Option(help: "Goes on where another page ended.")
    var cursor: String?

    @Flag(help: "As JSON.")
    var json = false

    /// - Parameter isCursor: whether a text is where a page of this list may have ended.
    func check(_ isCursor: (String) -> Bool) throws {
        guard (1...1_000).contains(limit) else { throw ValidationError("--limit is 1 to 1000") }
        guard cursor.map(isCursor) ?? true else { throw ValidationError("--cursor is of another page's end") }
    }

    /// A table for people; with `--json` `{"items":[…],"nextCursor":…}`, as the ops API has it.
    func write<Item: Viewed>(
        _ page: (items: [Item], next: (some CustomStringConvertible)?), columns: [Field<Item>]
    ) throws {
        let next = page.next?.description
        guard !json else { return try JSONOutput.write { $0.page(page.items, next: next) } }
        Table.write(page.items, columns)
        if let next { print("more: --cursor \(next)") }
    }
}
