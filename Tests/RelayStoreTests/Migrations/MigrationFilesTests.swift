import Foundation
import Testing

@testable import Relay

@Suite("The migrations in the executable")
struct MigrationFilesTests {
    private static let folder = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "migrations")

    @Test("are the files of migrations/, byte for byte and in order")
    func files() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
            .filter { $0.hasSuffix(".sql") }.sorted()
        #expect(!names.isEmpty)
        #expect(Migration.all.map { "\($0.name).sql" } == names)
        for migration in Migration.all {
            let file = try Data(contentsOf: Self.folder.appending(path: "\(migration.name).sql"))
            #expect(Data(migration.sql.utf8) == file)
        }
    }

    @Test("are numbered from 1 without a gap")
    func numbers() {
        #expect(Migration.all.map(\.number) == Array(1...Migration.all.count))
    }

    @Test("have checksums as sha256sum writes them")
    func checksum() {
        // NIST's example for SHA-256, "abc".
        #expect(
            Migration("0001_abc", Array("abc".utf8)).checksum
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }
}
