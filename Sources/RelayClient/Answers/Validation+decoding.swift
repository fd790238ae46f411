import Foundation

extension Validation: Decodable {
    private enum CodingKeys: String, CodingKey {
        case validationId, status, accessGranted, offerId, reason, receivedAt, settledAt, deadline, late, expiresAt
        case warnings
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        func moment(_ key: CodingKeys) throws -> Date? {
            guard let text = try fields.decodeIfPresent(String.self, forKey: key) else { return nil }
            return Moment.parse(text)
        }
        func required(_ key: CodingKeys) throws -> Date {
            guard let date = try moment(key) else {
                throw DecodingError.dataCorruptedError(forKey: key, in: fields, debugDescription: "not a moment")
            }
            return date
        }
        id = try fields.decode(String.self, forKey: .validationId)
        status = Status(rawValue: try fields.decode(String.self, forKey: .status))
        accessGranted = try fields.decode(Bool.self, forKey: .accessGranted)
        offer = try fields.decode(String.self, forKey: .offerId)
        receivedAt = try required(.receivedAt)
        deadline = try required(.deadline)
        // The answer to a purchase that is pending leaves out the rest.
        reason = try fields.decodeIfPresent(String.self, forKey: .reason)
        settledAt = try moment(.settledAt)
        isLate = try fields.decodeIfPresent(Bool.self, forKey: .late) ?? false
        expiresAt = try moment(.expiresAt)
        warnings = try fields.decodeIfPresent([Warning].self, forKey: .warnings) ?? []
    }
}
