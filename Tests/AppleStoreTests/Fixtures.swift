import Foundation
import Testing

@testable import AppleStore

/// Receipts that Apple really issued. They contain publishers' transaction numbers, so they are not part of this
/// repository. No test prints their contents: comparisons name the file and the field, never the value.
enum Fixtures {
    /// `RELAY_FIXTURES` (the folder, or the one above it), else `../shared/fixtures/apple` beside the package.
    static let folder: URL? = {
        var candidates: [URL] = []
        if let path = ProcessInfo.processInfo.environment["RELAY_FIXTURES"], !path.isEmpty {
            let named = URL(fileURLWithPath: path)
            candidates = [named.appendingPathComponent("apple"), named]
        } else {
            var root = URL(fileURLWithPath: #filePath)
            for _ in 0..<3 { root.deleteLastPathComponent() }
            candidates = [root.appendingPathComponent("../shared/fixtures/apple").standardizedFileURL]
        }
        return candidates.first {
            FileManager.default.fileExists(atPath: $0.appendingPathComponent("MANIFEST.json").path)
        }
    }()

    static let absent: Comment =
        "no receipt fixtures: set RELAY_FIXTURES to their folder, or put them in ../shared/fixtures/apple"

    static func bytes(_ file: String) throws -> [UInt8] {
        Array(try Data(contentsOf: try #require(folder, absent).appendingPathComponent(file)))
    }

    static func text(_ file: String) throws -> String { String(decoding: try bytes(file), as: UTF8.self) }

    static func decode<T: Decodable>(
        _ type: T.Type, _ file: String, keys: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys
    ) throws -> T {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = keys
        return try decoder.decode(type, from: Data(try bytes(file)))
    }

    /// The receipt in a file, as base64 or, in one file, as raw bytes.
    static func receiptData(_ file: String) throws -> ReceiptData {
        let bytes = try bytes(file)
        return bytes.first == 0x30 ? .binary(bytes) : try ReceiptData(String(decoding: bytes, as: UTF8.self))
    }

    static let manifest: [Entry] = (try? decode([Entry].self, "MANIFEST.json")) ?? []
    static let generated: [GeneratedEntry] =
        (try? decode(Generated.self, "generated/MANIFEST.json"))?.cases ?? []

    struct Entry: Decodable {
        let file: String
        let kind: String
        let signature: Signature?
        let verifiesWith: String?

        struct Signature: Decodable {
            let rawSignatureValid: Bool
            let digest: String
            let chainToAppleIncRootAtCreationDate: Bool
        }
    }

    private struct Generated: Decodable {
        let cases: [GeneratedEntry]
    }

    struct GeneratedEntry: Decodable {
        let file: String
        let kind: String
        let expect: String
        let identify: ExpectedReceipt.Purchase?
    }
}
