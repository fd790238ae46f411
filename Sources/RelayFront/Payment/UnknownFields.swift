import RelayCore

/// Fields of a body that are not known but look like one that is: `coupon` for `couponCode`. All others are ignored.
struct UnknownFields: Sendable {
    private var lookalikes: [(name: String, known: String)] = []

    private static let most = 8
    /// No name of a field is much longer.
    private static let longest = 40

    /// - Parameters:
    ///   - known: the fields that are read, of which it may be one in other letters.
    ///   - object: in which object of the body it stands; nil: in the body itself.
    mutating func add(_ name: String, known: [String], in object: String?) {
        guard lookalikes.count < Self.most, name.utf8.count <= Self.longest,
            let one = known.first(where: { Self.resembles(name, $0) })
        else { return }
        let path = object.map { $0 + "." } ?? ""
        lookalikes.append((path + name, path + one))
    }

    /// - Parameter present: fields that the body has: nobody mistyped those.
    func warnings(present: Set<String>) -> [FieldError] {
        lookalikes.filter { !present.contains($0.known) }.map {
            FieldError($0.name, .unknownField, "is not known and was ignored; did you mean \($0.known)?")
        }
    }

    private static func resembles(_ name: String, _ known: String) -> Bool {
        let (name, known) = (folded(name), folded(known))
        guard name.utf8.count >= 5 else { return name == known }
        return known.hasPrefix(name) || known.hasSuffix(name) || name.distance(to: known) <= 2
    }

    /// Without regard to case, `_` and `-`.
    private static func folded(_ name: String) -> String { String(name.lowercased().filter { $0 != "_" && $0 != "-" }) }
}
