import RelayStore

extension SettingReader {
    /// The first one wraps, the others only open. None: nothing is sealed.
    func wrappingKeys() throws -> [WrappingKey] {
        guard let text = try text(.encryptionKeys) else { return [] }
        let parts = text.split { $0 == "," || $0.isWhitespace }
        let keys = parts.compactMap { WrappingKey(base64: String($0)) }
        guard keys.count == parts.count, (1...16).contains(keys.count) else {
            throw SettingError.malformed(
                Setting.encryptionKeys.name,
                wants:
                    "one to sixteen keys of 32 bytes in Base64, the current one first: `receipt-relay encryption create-key` makes one"
            )
        }
        return keys
    }
}
