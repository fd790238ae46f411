import RelayCore

/// As the ops API has it.
struct VerificationOutput: Encodable {
    let result: String
    let code: String?
    let detail: String?

    init(_ verification: Verification) {
        result = verification.result.name
        code = verification.code
        detail = verification.detail
    }

    private enum CodingKeys: String, CodingKey { case result, code, detail }

    /// What is not there is written as null.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(result, forKey: .result)
        try container.encode(code, forKey: .code)
        try container.encode(detail, forKey: .detail)
    }

    /// For people.
    var line: String {
        guard let code, let detail else { return result.replacing("_", with: " ") }
        return "\(result.replacing("_", with: " ")) (\(code)): \(detail)"
    }
}
