public import Formats
import RelayCore

extension JSONWriter {
    /// An object with all fields.
    public mutating func value<Item: Viewed>(_ item: Item) {
        beginObject()
        fields(of: item)
        endObject()
    }

    /// The fields alone; the caller has begun the object.
    public mutating func fields<Item: Viewed>(of item: Item) {
        for field in Item.fields { member(field.name, field.value(item)) }
    }

    /// `"items":[…],"nextCursor":…`
    public mutating func page<Item: Viewed>(_ items: [Item], next: String?) {
        beginObject()
        beginArray("items")
        for item in items { value(item) }
        endArray()
        field("nextCursor", next)
        endObject()
    }

    public mutating func array<Item: Viewed>(_ name: StaticString, _ items: [Item]) {
        beginArray(name)
        for item in items { value(item) }
        endArray()
    }

    private mutating func member(_ name: String, _ value: FieldValue) {
        if case .absent = value { return }
        self.name(name)
        write(value)
    }

    private mutating func write(_ value: FieldValue) {
        switch value {
        case .null, .absent: null()
        case .text(let text): self.value(text)
        case .number(let number): self.value(number)
        case .flag(let flag): self.value(flag)
        case .time(let moment): self.value(millisecondsSince1970: moment.millisecondsSince1970)
        case .json(let text): self.value(json: text.utf8)
        case .object(let members):
            beginObject()
            for (name, value) in members { member(name, value) }
            endObject()
        case .list(let values):
            beginArray()
            for value in values { write(value) }
            endArray()
        }
    }
}
