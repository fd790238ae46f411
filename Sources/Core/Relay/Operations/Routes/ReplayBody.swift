import Formats
import HTTPServer
import NIOCore
import RelayCore

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
        switch (isParked, reader["status"]) {
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

/// The reason for an operator's action: `reason` in its body.
package enum OperatorReason {
    package static let maximumLength = 400

    /// Reads a body that contains no other field.
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
