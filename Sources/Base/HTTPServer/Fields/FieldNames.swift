package import NIOCore

/// Names of the fields that are read from one kind of body.
package struct FieldNames: Sendable {
    fileprivate struct Field {
        /// The documented spelling.
        var name: String
        /// Paths of its members, if it is an object whose members are read.
        var members: Lookup<String>?
    }

    /// Values by name. A name longer than all of them is not compared: strings are compared and hashed in normal form,
    /// which takes quadratic time for a long run of combining marks.
    fileprivate struct Lookup<Value: Sendable>: Sendable {
        private let values: [String: Value]
        let longest: Int

        init(_ values: [(String, Value)]) {
            self.values = Dictionary(values, uniquingKeysWith: { $1 })
            longest = values.map(\.0.utf8.count).max() ?? 0
        }

        subscript(name: String) -> Value? { name.utf8.count <= longest ? values[name] : nil }

        var all: some Sequence<Value> { values.values }
    }

    private let fields: Lookup<Field>
    private let isInAnyCase: Bool

    /// - Parameters:
    ///   - names: fields of the body itself.
    ///   - objects: fields that are objects, and the names read in each.
    ///   - isInAnyCase: whether names match without regard to case.
    package init(_ names: [String], within objects: [String: [String]] = [:], inAnyCase isInAnyCase: Bool = false) {
        let plain = names.map { (isInAnyCase ? $0.lowercased() : $0, Field(name: $0)) }
        let read = objects.map { object, members in
            (object, Field(name: object, members: Lookup(members.map { ($0, "\(object).\($0)") })))
        }
        fields = Lookup(plain + read)
        self.isInAnyCase = isInAnyCase
    }

    fileprivate subscript(name: String) -> Field? {
        fields[isInAnyCase && name.utf8.count <= fields.longest ? name.lowercased() : name]
    }
}

extension FieldReader {
    /// Reads a body. If a name is repeated, the last value counts.
    ///
    /// - Parameters:
    ///   - path: prefix of each name in errors: `Customer.`.
    ///   - unknown: called for every other field, with the containing object; nil means the body itself.
    /// - Throws: ``Problem``: 400 if it is not JSON, 422 if it is JSON but not an object.
    package init(
        _ body: ByteBuffer, _ names: FieldNames, in path: String = "",
        unknown: (_ name: String, _ object: String?) -> Void = { _, _ in }
    ) throws {
        var fields: [String: JSONField] = [:]
        try JSONScanner.readObject(body) { (scanner, name) throws(JSONSyntaxError) in
            guard let field = names[name] else {
                unknown(name, nil)
                return try scanner.skip(depth: 2)
            }
            if let members = field.members {
                for path in members.all { fields[path] = nil }
                if try scanner.kind() == .object {
                    // An object whose members are read is not stored as a whole.
                    fields[field.name] = .object("")
                    return try scanner.object(depth: 2) { (scanner, member) throws(JSONSyntaxError) in
                        if let path = members[member] {
                            fields[path] = try JSONField(&scanner, depth: 3)
                        } else {
                            unknown(member, field.name)
                            try scanner.skip(depth: 3)
                        }
                    }
                }
            }
            fields[field.name] = try JSONField(&scanner, depth: 2)
        }
        self.init(fields, in: path)
    }

    /// Reads the body of an operator's action. Refuses unknown fields, since a misspelled one may limit the action,
    /// such as `dryRun`.
    ///
    /// - Throws: ``Problem`` 400 if it is not JSON, 422 if it is not an object.
    package init(act body: ByteBuffer, _ names: [String]) throws {
        var unknown: [String] = []
        try self.init(body, FieldNames(names)) { name, _ in unknown.append(name) }
        refuse(unknown: unknown, known: names)
    }

    package init(_ query: QueryItems, _ names: [String]) {
        self.init(Dictionary(names.map { ($0, query[$0].map { .string($0) } ?? .absent) }, uniquingKeysWith: { $1 }))
    }
}
