/// A type's object identifier, as in the server's `pg_type.dat`.
public struct PostgresType: RawRepresentable, Sendable, Hashable {
    public var rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let bool = PostgresType(rawValue: 16)
    public static let bytea = PostgresType(rawValue: 17)
    public static let name = PostgresType(rawValue: 19)
    public static let int8 = PostgresType(rawValue: 20)
    public static let int2 = PostgresType(rawValue: 21)
    public static let int4 = PostgresType(rawValue: 23)
    public static let text = PostgresType(rawValue: 25)
    public static let oid = PostgresType(rawValue: 26)
    public static let json = PostgresType(rawValue: 114)
    public static let float4 = PostgresType(rawValue: 700)
    public static let float8 = PostgresType(rawValue: 701)
    public static let unknown = PostgresType(rawValue: 705)
    public static let bpchar = PostgresType(rawValue: 1042)
    public static let varchar = PostgresType(rawValue: 1043)
    public static let timestamptz = PostgresType(rawValue: 1184)
    public static let record = PostgresType(rawValue: 2249)
    public static let uuid = PostgresType(rawValue: 2950)
    public static let jsonb = PostgresType(rawValue: 3802)

    static let boolArray = PostgresType(rawValue: 1000)
    static let byteaArray = PostgresType(rawValue: 1001)
    static let int2Array = PostgresType(rawValue: 1005)
    static let int4Array = PostgresType(rawValue: 1007)
    static let textArray = PostgresType(rawValue: 1009)
    static let int8Array = PostgresType(rawValue: 1016)
    static let timestamptzArray = PostgresType(rawValue: 1185)
    static let uuidArray = PostgresType(rawValue: 2951)

    /// Whether the type is an extension's, an enum or a composite: identifiers from here on (`FirstNormalObjectId`).
    var isUserDefined: Bool { rawValue >= 16384 }
}
