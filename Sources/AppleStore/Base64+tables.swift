extension Base64 {
    static let invalid: UInt8 = 0xFF
    static let space: UInt8 = 0xFE
    static let padding: UInt8 = 0xFD

    /// The value of each byte; those that are no digit have the top bit set.
    static let lenientTable: [UInt8] = {
        var table = urlSafeTable
        table[Int(UInt8(ascii: "+"))] = 62
        table[Int(UInt8(ascii: "/"))] = 63
        table[Int(UInt8(ascii: "="))] = padding
        for byte in " \t\r\n".utf8 { table[Int(byte)] = space }
        return table
    }()

    static let urlSafeTable: [UInt8] = {
        var table = [UInt8](repeating: invalid, count: 256)
        let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        for (value, byte) in digits.utf8.enumerated() { table[Int(byte)] = UInt8(value) }
        return table
    }()
}
