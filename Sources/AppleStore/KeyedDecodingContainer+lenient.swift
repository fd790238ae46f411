import RelayCore

/// Readings of a field that another shape of value makes absent instead of an error: stores change their shapes.
extension KeyedDecodingContainer {
    func text(_ key: Key) -> String? {
        guard let string = try? decodeIfPresent(String.self, forKey: key) else { return nil }
        return StoreText.text(string)
    }

    /// Text, or a whole number in its place.
    func identifier(_ key: Key) -> String? {
        guard contains(key) else { return nil }
        if let string = try? decode(String.self, forKey: key) { return StoreText.identifier(string) }
        return integer(key).map { String($0) }
    }

    func text<Kind>(_ key: Key) -> Identifier<Kind>? { Identifier(text(key) as String?) }

    func identifier<Kind>(_ key: Key) -> Identifier<Kind>? { Identifier(identifier(key) as String?) }

    func integer(_ key: Key) -> Int64? {
        (try? decodeIfPresent(Int64.self, forKey: key)).flatMap { $0 }
    }

    func bool(_ key: Key) -> Bool? {
        (try? decodeIfPresent(Bool.self, forKey: key)).flatMap { $0 }
    }

    /// A number, whole or not, or digits in a text: milliseconds since 1970, or seconds, as its size says.
    func date(_ key: Key) -> AppleTimestamp? {
        guard contains(key) else { return nil }
        if let number = try? decode(Double.self, forKey: key) { return AppleTimestamp(external: number) }
        return identifier(key).flatMap { Double($0) }.flatMap { AppleTimestamp(external: $0) }
    }

    func open<Known>(_ key: Key) -> OpenValue<Known>? where Known.RawValue == String {
        text(key).map(OpenValue.init(raw:))
    }

    func open<Known>(_ key: Key) -> OpenValue<Known>? where Known.RawValue == Int64 {
        integer(key).map(OpenValue.init(raw:))
    }
}
