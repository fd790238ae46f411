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
        let fields = try OpsFields(bytes)
        var reader = FieldReader()
        let reason = OperatorReason.judge(fields["reason"].asText, &reader)
        let isParked = reader.flag(fields["parked"], "parked")
        let status = reader.optional(fields["status"], "status").flatMap { Self.status($0, &reader) }
        var selection = status.map(ReplayFilter.Selection.status)
        switch (isParked, fields["status"]) {
        case (true, .absent): selection = .parked
        case (true, _): reader.add(FieldError("status", .invalid, "must be left out where parked is true"))
        case (false, .absent): reader.add(FieldError("status", .required, "is required, or parked: true"))
        case (false, _): break
        }
        let from = reader.moment(fields["from"], "from")
        let to = reader.moment(fields["to"], "to")
        let limit = reader.number(fields["limit"], "limit", in: 1...Self.maximumLimit)
        let cursor = reader.optional(fields["cursor"], "cursor").flatMap { text in
            let cursor = ValidationCursor(text)
            if cursor == nil { reader.add(FieldError("cursor", .invalid, "must be a nextCursor of an earlier page")) }
            return cursor
        }
        let isDryRun = reader.flag(fields["dryRun"], "dryRun")
        guard reader.errors.isEmpty, let selection, let reason else { throw Problem.invalidFields(reader.errors) }
        self.reason = reason
        self.isDryRun = isDryRun
        filter = ReplayFilter(
            selection, from: from, to: to, limit: limit ?? Self.standardLimit, cursor: cursor)
    }

    private static func status(_ text: String, _ reader: inout FieldReader) -> ValidationStatus? {
        if let status = ValidationStatus(name: text), status.allowsRetry { return status }
        let names = ValidationStatus.allCases.filter(\.allowsRetry).map(\.name).joined(separator: ", ")
        reader.add(FieldError("status", .invalid, "must be one of \(names)"))
        return nil
    }
}

extension FieldReader {
    fileprivate mutating func flag(_ field: OpsField, _ name: String) -> Bool {
        switch field {
        case .absent: return false
        case .literal("true"): return true
        case .literal("false"): return false
        case .literal, .text, .other:
            add(FieldError(name, .wrongType, "must be true or false"))
            return false
        }
    }

    fileprivate mutating func number(_ field: OpsField, _ name: String, in range: ClosedRange<Int>) -> Int? {
        switch field {
        case .absent: return nil
        case .literal(let text):
            // 100.0 is a whole number, too.
            if let number = Int(text) ?? Double(text).flatMap({ Int(exactly: $0) }), range.contains(number) {
                return number
            }
        case .text, .other: break
        }
        add(FieldError(name, .invalid, "must be a whole number from \(range.lowerBound) to \(range.upperBound)"))
        return nil
    }

    fileprivate mutating func moment(_ field: OpsField, _ name: String) -> Timestamp? {
        guard let text = optional(field, name) else { return nil }
        let moment = Timestamp(rfc3339: text)
        if moment == nil {
            add(FieldError(name, .invalid, "must be a time such as 2026-11-20T10:00:00Z, or a date"))
        }
        return moment
    }

    fileprivate mutating func optional(_ field: OpsField, _ name: String) -> String? {
        optional(field.asText, name)
    }
}
