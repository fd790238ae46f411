import NIOCore
import RelayCore
import RelayStore

/// The body of a replay: `{"reason":"…","parked":true,"status":…,"from":…,"to":…,"limit":…,"cursor":…,"dryRun":…}`.
struct ReplayBody: Sendable {
    static let standardLimit = 100
    static let maximumLimit = 500

    var filter: ReplayFilter
    var reason: String
    var isDryRun: Bool

    /// - Throws: ``Problem`` 400 and 422.
    init(_ bytes: ByteBuffer) throws {
        var reader = try FieldReader(
            act: bytes, ["reason", "parked", "status", "from", "to", "limit", "cursor", "dryRun"])
        let reason = OperatorReason.judge(&reader)
        let isParked = reader.flag("parked")
        let status = reader.optional("status").flatMap { Self.status($0, &reader) }
        var selection = status.map(ReplayFilter.Selection.status)
        switch (isParked, reader.fields["status"]) {
        case (true, .absent): selection = .parked
        case (true, _): reader.add("status", .invalid, "must be left out where parked is true")
        case (false, .absent): reader.add("status", .required, "is required, or parked: true")
        case (false, _): break
        }
        let (from, to) = (reader.moment("from"), reader.moment("to"))
        if let from, let to, to <= from { reader.add("to", .invalid, "must be after from") }
        let limit = reader.number("limit", in: 1...Self.maximumLimit)
        let cursor = reader.optional("cursor").flatMap { text -> ValidationCursor? in
            ValidationCursor(text) ?? reader.refuse("cursor", "must be a nextCursor of an earlier page")
        }
        let isDryRun = reader.flag("dryRun")
        guard reader.errors.isEmpty, let selection, let reason else { throw Problem.invalidFields(reader.errors) }
        self.reason = reason
        self.isDryRun = isDryRun
        filter = ReplayFilter(
            selection, from: from, to: to, limit: limit ?? Self.standardLimit, cursor: cursor)
    }

    private static func status(_ text: String, _ reader: inout FieldReader) -> ValidationStatus? {
        if let status = ValidationStatus(name: text), status.allowsRetry { return status }
        let names = ValidationStatus.allCases.filter(\.allowsRetry).map(\.name).joined(separator: ", ")
        return reader.refuse("status", "must be one of \(names)")
    }
}

extension FieldReader {
    /// Reads the body of an act. Refuses unknown fields: a mistyped one may be what limits the act, such as `dryRun`.
    ///
    /// - Throws: ``Problem`` 400 where it is not JSON, 422 where it is no object.
    init(act bytes: ByteBuffer, _ names: [String]) throws {
        var unknown: [String] = []
        self.init(try JSONFields(bytes, names) { name, _ in unknown.append(name) })
        refuse(unknown: unknown, known: names)
    }

    /// Names the first few; a name may be as long as the body.
    mutating func refuse(unknown: [String], known: [String]) {
        for name in unknown.prefix(8) {
            add(String(name.prefix(64)), .unknownField, "is not known; known are \(known.joined(separator: ", "))")
        }
    }

    mutating func flag(_ name: String) -> Bool {
        if case .bool(let flag) = fields[name] { return flag }
        if fields[name] != .absent { add(name, .wrongType, "must be true or false") }
        return false
    }

    mutating func number(_ name: String, in range: ClosedRange<Int>) -> Int? {
        guard fields[name] != .absent else { return nil }
        guard let number = fields[name].integer.flatMap({ Int(exactly: $0) }), range.contains(number) else {
            return refuse(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    fileprivate mutating func moment(_ name: String) -> Timestamp? {
        guard let text = optional(name) else { return nil }
        return Timestamp(rfc3339: text) ?? refuse(name, "must be a time such as 2026-11-20T10:00:00Z, or a date")
    }
}

/// Why an operator acts: `reason` in the body of an action.
enum OperatorReason {
    static let maximumLength = 400

    /// Reads a body that has no other field.
    ///
    /// - Throws: ``Problem`` 400 and 422.
    static func parse(_ bytes: ByteBuffer) throws -> String {
        var reader = try FieldReader(act: bytes, ["reason"])
        let reason = judge(&reader)
        guard reader.errors.isEmpty, let reason else { throw Problem.invalidFields(reader.errors) }
        return reason
    }

    static func judge(_ reader: inout FieldReader) -> String? {
        guard let reason = reader.required("reason")?.trimmingSpace() else { return nil }
        guard !reason.isEmpty else { return reader.refuse("reason", "must not be empty") }
        guard reason.utf8.count <= maximumLength * 4, reason.unicodeScalars.count <= maximumLength else {
            return reader.refuse("reason", .tooLong, "must have at most \(maximumLength) characters")
        }
        return reason
    }
}
