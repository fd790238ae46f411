import NIOCore

/// The fields of a body that are wanted, read and not yet judged: by name, and within an object by path (`receipt.transactionId`). Of a
/// name that comes twice the last one counts.
struct JSONFields: Sendable {
    private var fields: [String: JSONField] = [:]

    /// None.
    init() {}

    /// - Parameters:
    ///   - names: of the body's own fields.
    ///   - objects: fields that are objects, and the names that are wanted in each.
    ///   - unknown: called for every other field, with the object that it is in; nil for the body itself.
    /// - Throws: ``Problem``: 400 where it is not JSON, 422 where it is JSON and no object.
    init(
        _ bytes: ByteBuffer, _ names: [String], within objects: [String: [String]] = [:],
        unknown: (_ name: String, _ object: String?) -> Void = { _, _ in }
    ) throws {
        // Joined once: a body may repeat an object a million times.
        let paths = objects.map { object, members in
            (object, Dictionary(members.map { ($0, "\(object).\($0)") }, uniquingKeysWith: { $1 }))
        }
        let wanted = Dictionary(paths, uniquingKeysWith: { $1 })
        let longest = Self.longest(names + objects.keys)
        let longestMember = Self.longest(objects.values.joined())
        var fields: [String: JSONField] = [:]
        try JSONScanner.readObject(bytes) { (scanner, name) throws(JSONSyntaxError) in
            let isShort = name.utf8.count <= longest
            guard isShort, let members = wanted[name] else {
                if isShort, names.contains(name) {
                    fields[name] = try JSONField(&scanner, depth: 2)
                } else {
                    unknown(name, nil)
                    try scanner.skip(depth: 2)
                }
                return
            }
            for path in members.values { fields[path] = nil }
            guard try scanner.kind() == .object else {
                fields[name] = try JSONField(&scanner, depth: 2)
                return
            }
            // What is looked into is not kept besides.
            fields[name] = .object("")
            try scanner.object(depth: 2) { (scanner, member) throws(JSONSyntaxError) in
                if member.utf8.count <= longestMember, let path = members[member] {
                    fields[path] = try JSONField(&scanner, depth: 3)
                } else {
                    unknown(member, name)
                    try scanner.skip(depth: 3)
                }
            }
        }
        self.fields = fields
    }

    /// With names in any case.
    ///
    /// - Parameter names: as the documentation writes them.
    /// - Throws: ``Problem``: 400 where it is not JSON, 422 where it is JSON and no object.
    init(_ bytes: ByteBuffer, inAnyCase names: [String]) throws {
        let wanted = Dictionary(names.map { ($0.lowercased(), $0) }, uniquingKeysWith: { $1 })
        let longest = Self.longest(names)
        var fields: [String: JSONField] = [:]
        try JSONScanner.readObject(bytes) { (scanner, name) throws(JSONSyntaxError) in
            guard name.utf8.count <= longest, let wanted = wanted[name.lowercased()] else {
                return try scanner.skip(depth: 2)
            }
            fields[wanted] = try JSONField(&scanner, depth: 2)
        }
        self.fields = fields
    }

    /// Bytes of the longest name that is wanted. A longer one is not compared with them: strings are compared and hashed in normal
    /// form, which takes the square of the time for a long run of combining marks.
    private static func longest(_ names: some Sequence<String>) -> Int { names.map(\.utf8.count).max() ?? 0 }

    subscript(path: String) -> JSONField { fields[path] ?? .absent }

    /// The paths of those that are there.
    var present: Set<String> { Set(fields.filter { $0.value != .absent }.keys) }
}
