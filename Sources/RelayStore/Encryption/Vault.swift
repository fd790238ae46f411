import Foundation
import NIOConcurrencyHelpers
public import Postgres

/// Keeps what is private unreadable in the database, where a key is configured.
///
/// Whether a value is sealed, and by which data key, its row says (`sealed_by`), never how the value looks; ``StoredForm`` is what
/// stands in the column. Nothing can be sealed or opened before ``EncryptionStore/openVault()`` has found out whether the database is sealed:
/// until then whatever needs it fails as it does while the database is away.
public final class Vault: PostgresVault {
    enum State: Sendable {
        case unknown
        case plain
        case sealed(VaultKeys)
        /// For ``EncryptionRun`` alone: what is sealed is opened, and nothing is sealed any more.
        case opening(VaultKeys)
    }

    public let wrappingKeys: [WrappingKey]
    private let box = NIOLockedValueBox((state: State.unknown, isStale: false))
    /// Time at which this process first met each unknown data key's number, in rows that do not say whether they are
    /// sealed.
    private let strangeNumbers = NIOLockedValueBox<[Int32: ContinuousClock.Instant]>([:])
    private static let mostStrangeNumbers = 10_000

    /// ``PrivateColumns`` by table and number. Empty until the database was asked.
    private let columns = NIOLockedValueBox<Set<UInt64>>([])

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
            if case .unknown = box.state { true } else { box.isStale }
        }
    }

    /// Called before work is claimed that could not be read.
    func check() throws { _ = try keys() }

    /// Nil where there are none; throws where that is not known.
    private func keys() throws -> VaultKeys? {
        switch state {
        case .unknown: throw PostgresError.vault(.locked, "whether the database is sealed is not known yet")
        case .plain: nil
        case .sealed(let keys), .opening(let keys): keys
        }
    }

    var privateColumns: Set<UInt64> {
        get { columns.withLockedValue { $0 } }
        set { columns.withLockedValue { $0 = newValue } }
    }

    static func columnKey(table: UInt32, column: Int32) -> UInt64 {
        UInt64(table) << 32 | UInt64(UInt32(bitPattern: column))
    }

    public func isPrivate(table: UInt32, column: Int32) -> Bool {
        columns.withLockedValue { $0.contains(Self.columnKey(table: table, column: column)) }
    }

    public func seal() throws -> any PostgresSeal {
        if case .opening = state { Seal(keys: nil) } else { Seal(keys: try keys()) }
    }

    public func open(text: UnsafeRawBufferPointer, sealedBy key: Int32?) throws -> [UInt8] {
        let keys = try keys()
        // A row that does not say: the version before wrote the mark before every sealed text, and before no other.
        let isSealed = key.map { $0 != 0 } ?? (keys != nil && text.starts(with: StoredForm.textMark))
        guard isSealed else { return StoredForm.text(ofPlain: text) }
        guard let keys else { throw lockedWithoutKey() }
        guard let box = StoredForm.box(ofSealedText: text) else {
            throw PostgresError.vault(.decoding, "a sealed text is cut short")
        }
        do {
            return try keys.open(name: box)
        } catch {
            throw PostgresError.vault(.decoding, "a sealed text cannot be opened")
        }
    }

    public func open(bytes: UnsafeRawBufferPointer, sealedBy key: Int32?) throws -> [UInt8] {
        let keys = try keys()
        guard let key else { return try openUnsaid(bytes, keys) }
        guard key != 0 else { return [UInt8](bytes) }
        guard let keys else { throw lockedWithoutKey() }
        guard let stored = StoredForm.box(ofSealedBytes: bytes), stored.number == key else {
            throw PostgresError.vault(.decoding, "sealed bytes are cut short")
        }
        do {
            if let opened = try keys.open(bytes: stored.box, by: key) { return opened }
        } catch {
            throw PostgresError.vault(.decoding, "sealed bytes cannot be opened")
        }
        throw lockedUntilKeyIsKnown(key)
    }

    /// Opens a value whose row does not say whether it is sealed. The previous version left receipts plain that looked
    /// sealed when `encryption enable` reached them. A data key opens only what it has sealed, so it shows the
    /// difference.
    private func openUnsaid(_ bytes: UnsafeRawBufferPointer, _ keys: VaultKeys?) throws -> [UInt8] {
        guard let keys, let stored = StoredForm.box(ofSealedBytes: bytes) else { return [UInt8](bytes) }
        if keys.numbers.contains(stored.number) {
            return (try? keys.open(bytes: stored.box, by: stored.number)) ?? [UInt8](bytes)
        }
        // A key that was not there when the keys were read after this number was met is none.
        let firstMet = strangeNumbers.withLockedValue { met in
            let firstMet = met[stored.number] ?? .now
            if met.count >= Self.mostStrangeNumbers { met = [:] }
            met[stored.number] = firstMet
            return firstMet
        }
        guard keys.readAt.map({ $0 > firstMet }) ?? true else { throw lockedUntilKeyIsKnown(stored.number) }
        return [UInt8](bytes)
    }

    private func lockedWithoutKey() -> PostgresError {
        box.withLockedValue { $0.isStale = true }
        return .vault(.locked, "\(VaultError.noKey)")
    }

    /// Another copy has a newer key: it is looked for.
    private func lockedUntilKeyIsKnown(_ number: Int32) -> PostgresError {
        box.withLockedValue { $0.isStale = true }
        return .vault(.locked, "it is sealed by data key \(number), which is not known yet")
    }
}

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

/// Why what is private can be neither sealed nor opened.
public enum VaultError: Error, Equatable, CustomStringConvertible {
    case noKey
    case wrongKey(wanted: String)
    case databaseIsPlain
    case underWay(String)
    case cannotWrap
    case notSealed
    case copiesRun([String])
    /// Tables with their counts, and the command.
    case rowsLeft([String], String)
    case unreadableRow(String, why: String)

    public var description: String {
        switch self {
        case .noKey: "what is private in this database is sealed: set RELAY_ENCRYPTION_KEYS"
        case .wrongKey(let wanted):
            "none of RELAY_ENCRYPTION_KEYS is \(wanted), which the database's keys are wrapped by"
        case .databaseIsPlain:
            "RELAY_ENCRYPTION_KEYS is set and the database is not sealed: stop all copies and run `receipt-relay encryption enable`"
        case .underWay(let command): "run `receipt-relay encryption \(command)` again: it did not come to its end"
        case .cannotWrap: "a data key could not be wrapped"
        case .notSealed: "the database is not sealed"
        case .copiesRun(let names): "stop all copies first; these run: \(names.joined(separator: ", "))"
        case .unreadableRow(let row, let why): "\(row) cannot be opened (\(why)): mend or delete it, and run this again"
        case .rowsLeft(let counts, let command):
            "rows were written meanwhile (\(counts.joined(separator: ", "))): stop all copies and run `receipt-relay encryption \(command)` again"
        }
    }
}
