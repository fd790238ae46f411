import Postgres

/// How a statement's private values are written: by the keys that the process has at that moment, or as they are.
struct Seal: PostgresSeal {
    /// Nil: nothing is sealed.
    let keys: VaultKeys?

    var textKey: Int32 { keys == nil ? 0 : VaultKeys.ofNames }
    var byteKey: Int32 { keys?.newest ?? 0 }

    func seal(text: [UInt8]) throws -> [UInt8] {
        guard let keys else { return StoredForm.plain(text: text) }
        return StoredForm.sealed(text: try keys.seal(name: text))
    }

    func seal(bytes: [UInt8]) throws -> [UInt8] {
        guard let keys else { return bytes }
        return StoredForm.sealed(bytes: try keys.seal(bytes: bytes), by: keys.newest)
    }
}
