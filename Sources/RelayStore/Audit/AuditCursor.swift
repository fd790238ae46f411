import Foundation
import RelayCore

/// The last line of a page: `MICROSECONDS-UUID`.
public struct AuditCursor: Sendable, CustomStringConvertible {
    let at: Timestamp
    let id: UUID

    public init?(_ text: String) {
        let parts = text.parts(at: "-", maxSplits: 1)
        guard parts.count == 2, let microseconds = Int64(parts[0]), let id = UUID(uuidString: String(parts[1])),
            let moment = Timestamp(datable: microseconds)
        else { return nil }
        self.init(at: moment, id: id)
    }

    init(at: Timestamp, id: UUID) {
        self.at = at
        self.id = id
    }

    public var description: String { "\(at.microseconds)-\(id.uuidString.lowercased())" }
}
