import Foundation
import NIOConcurrencyHelpers
public import Postgres

/// Keeps what is private unreadable in the database, where a key is configured.
///
/// Sealed texts begin with `sealed1:`, sealed bytes with a mark and the number of their key; what is neither is as it was written before
/// there was a key. Nothing can be sealed or opened before ``RelayStore/openVault()`` has found out whether the database is sealed:
/// until then whatever needs it fails as it does while the database is away.
public final class Vault: PostgresVault {
    enum State: Sendable {
        case unknown
        case plain
        case sealed(VaultKeys)
    }

    static let textMark = Array("sealed1:".utf8)
    /// Before a text that would itself be taken for a sealed one.
    static let escapeMark = Array("sealed0:".utf8)
    private static let marks = Array("sealed".utf8)
    static let byteMark: [UInt8] = [0] + Array("sealed".utf8)
    private static let byteHead = byteMark.count + 4

    public let wrappingKeys: [WrappingKey]
    private let box = NIOLockedValueBox((state: State.unknown, isStale: false))

    /// - Parameter wrappingKeys: the first one wraps; the others only open what it has not wrapped yet.
    public init(_ wrappingKeys: [WrappingKey] = []) {
        self.wrappingKeys = wrappingKeys
    }

    /// For a database that is known not to be sealed.
    public static func plain() -> Vault {
        let vault = Vault()
        vault.state = .plain
        return vault
    }

    var state: State {
        get { box.withLockedValue { $0.state } }
        set { box.withLockedValue { $0 = (newValue, false) } }
    }

    /// Whether the database has to be asked (again): it has not been yet, or something is sealed by a key that this process does not know.
    public var needsLook: Bool {
        box.withLockedValue { box in
            switch box.state {
            case .unknown: true
            case .plain, .sealed: box.isStale
            }
        }
    }

    /// Before work is taken up that could not be read.
    func check() throws { _ = try keys() }

    /// Nil where there are none; throws where that is not known.
    private func keys() throws -> VaultKeys? {
        switch state {
        case .unknown: throw PostgresError.vault(.locked, "whether the database is sealed is not known yet")
        case .plain: nil
        case .sealed(let keys): keys
        }
    }

    public func seal(text: [UInt8]) throws -> [UInt8] {
        guard let keys = try keys() else { return text.starts(with: Self.marks) ? Self.escapeMark + text : text }
        return Self.textMark + Base85.encode(try keys.seal(name: text))
    }

    public func open(text: UnsafeRawBufferPointer) throws -> [UInt8] {
        let keys = try keys()
        guard text.starts(with: Self.marks) else { return [UInt8](text) }
        if text.starts(with: Self.escapeMark) { return [UInt8](text.dropFirst(Self.escapeMark.count)) }
        guard text.starts(with: Self.textMark) else { return [UInt8](text) }
        guard let keys else { throw PostgresError.vault(.locked, "\(VaultError.noKey)") }
        guard let sealed = Base85.decode(text.dropFirst(Self.textMark.count)) else {
            throw PostgresError.vault(.decoding, "a sealed text is cut short")
        }
        do {
            return try keys.open(name: sealed)
        } catch {
            throw PostgresError.vault(.decoding, "a sealed text cannot be opened")
        }
    }

    public func seal(bytes: [UInt8]) throws -> [UInt8] {
        guard let keys = try keys() else { return bytes }
        let number = withUnsafeBytes(of: keys.newest.bigEndian) { [UInt8]($0) }
        return Self.byteMark + number + (try keys.seal(bytes: bytes))
    }

    public func open(bytes: UnsafeRawBufferPointer) throws -> [UInt8] {
        let keys = try keys()
        guard bytes.count > Self.byteHead, bytes.starts(with: Self.byteMark) else { return [UInt8](bytes) }
        guard let keys else { throw PostgresError.vault(.locked, "\(VaultError.noKey)") }
        let number = Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: Self.byteMark.count, as: Int32.self))
        do {
            if let opened = try keys.open(bytes: [UInt8](bytes.dropFirst(Self.byteHead)), by: number) { return opened }
        } catch {
            throw PostgresError.vault(.decoding, "sealed bytes cannot be opened")
        }
        // Another copy has a newer key: it is looked for.
        box.withLockedValue { $0.isStale = true }
        throw PostgresError.vault(.locked, "they are sealed by data key \(number), which is not known yet")
    }
}
