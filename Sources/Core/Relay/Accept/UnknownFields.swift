import Formats
import HTTPServer

/// Unknown fields of a body that resemble a known one, such as `coupon` for `couponCode`. All others are ignored.
///
/// A body of megabytes may contain hundreds of thousands of names, and each costs microseconds. So only the first names
/// are examined, and only short ones.
struct UnknownFields: Sendable {
    /// Names of fields that are read, folded once.
    struct Known: Sendable {
        fileprivate let names: [(name: String, folded: String)]

        init(_ names: [String]) { self.names = names.map { ($0, UnknownFields.folded($0)) } }
    }

    private var lookalikes: [(name: String, known: String)] = []
    private var examined = 0

    private static let mostLookalikes = 8
    private static let mostExamined = 64
    /// No field's name is much longer.
    private static let longest = 40

    /// - Parameters:
    ///   - known: the known fields that the name may be a misspelling of.
    ///   - object: the object that contains it; nil: the body itself.
    mutating func add(_ name: String, known: Known, in object: String?) {
        guard lookalikes.count < Self.mostLookalikes, examined < Self.mostExamined, name.utf8.count <= Self.longest
        else { return }
        examined += 1
        let folded = Self.folded(name)
        guard let one = known.names.first(where: { Self.resembles(folded, $0.folded) })?.name else { return }
        let path = object.map { $0 + "." } ?? ""
        lookalikes.append((path + name, path + one))
    }

    /// - Parameter present: names of known fields that the body contains. No warning suggests one of them.
    func warnings(present: Set<String>) -> [FieldError] {
        lookalikes.filter { !present.contains($0.known) }.map {
            FieldError($0.name, .unknownField, "is not known and was ignored; did you mean \($0.known)?")
        }
    }

    private static func resembles(_ name: String, _ known: String) -> Bool {
        guard name.utf8.count >= 5 else { return name == known }
        return known.hasPrefix(name) || known.hasSuffix(name) || name.distance(to: known) <= 2
    }

    /// The name without case, `_` and `-`.
    private static func folded(_ name: String) -> String { String(name.lowercased().filter { $0 != "_" && $0 != "-" }) }
}
