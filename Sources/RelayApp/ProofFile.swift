import Foundation

/// What a store gave, out of a file.
enum ProofFile {
    /// Without the white space that editors and mails bring in.
    static func text(_ path: String) throws -> String {
        String(decoding: try read(path).filter { !$0.isSpace }, as: UTF8.self)
    }

    /// The binary itself, or base64 of it.
    static func receipt(_ path: String) throws -> Data {
        let data = try read(path)
        return Data(base64Encoded: data.filter { !$0.isSpace }) ?? data
    }

    private static func read(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
}

extension UInt8 {
    fileprivate var isSpace: Bool {
        self == UInt8(ascii: " ") || (UInt8(ascii: "\t")...UInt8(ascii: "\r")).contains(self)
    }
}
