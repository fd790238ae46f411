import ArgumentParser
import Foundation

struct ConfigurationOption: ParsableArguments {
    @Option(name: .customLong("config"), help: ArgumentHelp("A YAML or JSON file with settings.", valueName: "file"))
    var file: String?

    /// - Throws: `ExitCode` 78 (EX_CONFIG) after one line on standard error.
    func settings() throws -> SettingReader {
        try Self.reporting { try SettingReader(environment: ProcessInfo.processInfo.environment, file: file) }
    }

    /// Runs what may find the configuration wanting, and says so in one line.
    static func reporting<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as SettingError {
            complain("\(error)")
            throw ExitCode(78)
        }
    }

    static func complain(_ line: String) {
        FileHandle.standardError.write(Data("receipt-relay: \(line)\n".utf8))
    }
}
