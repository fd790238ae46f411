public import Foundation

/// One parameter of a statement: its type, and its value in PostgreSQL's binary form.
///
/// The type is sent with the statement, so `$1` needs no cast. A `nil` is NULL of that type.
public struct PostgresValue: Sendable {
    enum Content: Sendable {
        /// Binary form; nil is NULL.
        case plain([UInt8]?)
        /// Sealed before they are sent.
        case text([UInt8]?)
        case texts([[UInt8]?])
        case bytes([UInt8]?)
        case byteStrings([[UInt8]])
        /// The key with which the private values are sealed.
        case textKey
        case byteKey
    }

    let type: PostgresType
    private let content: Content

    init(_ type: PostgresType, _ content: Content) {
        self.type = type
        self.content = content
    }

    init(_ type: PostgresType, _ bytes: [UInt8]?) {
        self.init(type, .plain(bytes))
    }

    private init<T>(_ type: PostgresType, _ value: T?, _ encode: (T, inout [UInt8]) -> Void) {
        self.init(
            type,
            value.map { value in
                var bytes: [UInt8] = []
                encode(value, &bytes)
                return bytes
            })
    }

    var isPrivate: Bool { if case .plain = content { false } else { true } }

    /// Bytes as sent; nil is NULL.
    func bytes(_ seal: any PostgresSeal) throws -> [UInt8]? {
        switch content {
        case .plain(let bytes): bytes
        case .text(let text): try text.map { try seal.seal(text: $0) }
        case .bytes(let bytes): try bytes.map { try seal.seal(bytes: $0) }
        case .texts(let texts):
            BinaryFormat.array(
                of: .text, try texts.map { try $0.map { try seal.seal(text: $0) } }, BinaryFormat.bytea)
        case .byteStrings(let strings):
            BinaryFormat.array(of: .bytea, try strings.map { try seal.seal(bytes: $0) }, BinaryFormat.bytea)
        case .textKey: PostgresValue.int4(seal.textKey).plainBytes
        case .byteKey: PostgresValue.int4(seal.byteKey).plainBytes
        }
    }

    private var plainBytes: [UInt8]? { if case .plain(let bytes) = content { bytes } else { nil } }

    public static func int2(_ value: Int16?) -> PostgresValue { PostgresValue(.int2, value, BinaryFormat.integer) }

    public static func int4(_ value: Int32?) -> PostgresValue { PostgresValue(.int4, value, BinaryFormat.integer) }

    public static func int8(_ value: Int64?) -> PostgresValue { PostgresValue(.int8, value, BinaryFormat.integer) }

    public static func bool(_ value: Bool?) -> PostgresValue { PostgresValue(.bool, value, BinaryFormat.bool) }

    /// A text value. PostgreSQL's text cannot hold a NUL character, so each is sent as U+FFFD, here and in every other
    /// kind of text. The server then refuses no text from outside.
    public static func text(_ value: String?) -> PostgresValue { PostgresValue(.text, value.map(BinaryFormat.text)) }

    public static func bytea(_ value: [UInt8]?) -> PostgresValue { PostgresValue(.bytea, value) }

    public static func uuid(_ value: UUID?) -> PostgresValue { PostgresValue(.uuid, value, BinaryFormat.uuid) }

    public static func timestamptz(_ value: PostgresTimestamp?) -> PostgresValue {
        PostgresValue(.timestamptz, value, BinaryFormat.timestamp)
    }
}
