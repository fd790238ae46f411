import Foundation
import NIOConcurrencyHelpers
public import Postgres

/// Keeps private values unreadable in the database, if a key is configured.
///
/// The row's `sealed_by` says whether a value is sealed, and by which data key; the value's form never decides.
/// ``StoredForm`` describes the stored forms. Nothing can be sealed or opened before ``EncryptionStore/openVault()``
/// has read whether the database is sealed. Until then, such operations fail as they do while the database is away.
public final class Vault: PostgresVault {
    enum State: Sendable {
        case unknown
        case plain
        case sealed(VaultKeys)
        /// For ``EncryptionRun`` only: sealed values are opened, and new ones are not sealed.
        case opening(VaultKeys)
    }

    public let wrappingKeys: [WrappingKey]
    private let box = NIOLockedValueBox((state: State.unknown, isStale: false))
    /// When this process first read each unknown key number, in rows without `sealed_by`.
    private let strangeNumbers = NIOLockedValueBox<[Int32: ContinuousClock.Instant]>([:])
    private static let mostStrangeNumbers = 10_000

    /// ``PrivateColumns`` by table and number. Empty until they are read from the database.
    private let columns = NIOLockedValueBox<Set<UInt64>>([])

    /// - Parameter wrappingKeys: the first one wraps; the others only unwrap what it has not wrapped yet.
    public init(_ wrappingKeys: [WrappingKey] = []) {
        self.wrappingKeys = wrappingKeys
    }

    /// A vault for a database that is known to be unsealed.
    public static func plain() -> Vault {
        let vault = Vault()
        vault.state = .plain
        return vault
    }

    var state: State {
        get { box.withLockedValue { $0.state } }
        set { box.withLockedValue { $0 = (newValue, false) } }
    }

    /// Whether the state must be read (again): it was never read, or a value is sealed by a key that this process does
    /// not know.
    public var needsLook: Bool {
        box.withLockedValue { box in
            if case .unknown = box.state { true } else { box.isStale }
        }
    }

    /// Called before a claim, so that no work is claimed that cannot be read.
    func check() throws { _ = try keys() }

    /// The keys; nil if nothing is sealed.
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
        // Without `sealed_by`: the previous version wrote the mark before every sealed text, and before no other.
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

    /// Opens a value of a row without `sealed_by`. The previous version left some receipts unsealed because they looked
    /// like sealed ones. The difference: a data key opens only what it has sealed.
    private func openUnsaid(_ bytes: UnsafeRawBufferPointer, _ keys: VaultKeys?) throws -> [UInt8] {
        guard let keys, let stored = StoredForm.box(ofSealedBytes: bytes) else { return [UInt8](bytes) }
        if keys.numbers.contains(stored.number) {
            return (try? keys.open(bytes: stored.box, by: stored.number)) ?? [UInt8](bytes)
        }
        // If keys were read after the number was first seen, and do not include it, no such key exists.
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

    /// Returns an error, and requests another read of the keys, because another copy has created a newer one.
    private func lockedUntilKeyIsKnown(_ number: Int32) -> PostgresError {
        box.withLockedValue { $0.isStale = true }
        return .vault(.locked, "it is sealed by data key \(number), which is not known yet")
    }
}

/// Seals a statement's private values with the keys at that moment, or leaves them unsealed.
struct Seal: PostgresSeal {
    /// Nil: values are stored unsealed.
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

/// Why private values can be neither sealed nor opened.
public enum VaultError: Error, Equatable, CustomStringConvertible {
    case noKey
    case wrongKey(wanted: String)
    case databaseIsPlain
    case underWay(String)
    case cannotWrap
    case notSealed
    case copiesRun([String])
    /// Tables with their row counts, and the command to run.
    case rowsLeft([String], String)
    /// Rows of a feature that this build lacks: counts by table.
    case unknownRows([String])
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
        case .unknownRows(let counts):
            "this build lacks the feature of \(counts.joined(separator: ", ")): run this with a build that has it"
        case .rowsLeft(let counts, let command):
            "rows were written meanwhile (\(counts.joined(separator: ", "))): stop all copies and run `receipt-relay encryption \(command)` again"
        }
    }
}
