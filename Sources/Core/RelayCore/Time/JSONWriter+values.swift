public import Formats

extension JSONWriter {
    public mutating func field<Kind>(_ name: StaticString, _ identifier: Identifier<Kind>?) {
        field(name, identifier?.text)
    }

    public mutating func field(_ name: StaticString, _ moment: Timestamp?) {
        self.name(name)
        if let moment { value(millisecondsSince1970: moment.millisecondsSince1970) } else { null() }
    }

    public mutating func member<Kind>(_ name: StaticString, _ identifier: Identifier<Kind>?) {
        member(name, identifier?.text)
    }

    /// Writes the time without the fraction of a second: `2026-01-02T03:04:05.000Z`.
    public mutating func member(_ name: StaticString, second moment: Timestamp?) {
        if let moment { field(name, moment.wholeSeconds) }
    }

    public mutating func value<Kind>(_ identifier: Identifier<Kind>) { value(identifier.text) }
}
