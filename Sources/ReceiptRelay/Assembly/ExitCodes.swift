import ArgumentParser

/// The conventional numbers (`sysexits.h`).
enum ExitCodes {
    static let software = ExitCode(70)
    static let configuration = ExitCode(78)
}
