import Foundation
import Postgres
import Relay

/// A command's failure: one line on standard error, and the exit code.
struct Failure: Error {
    let line: String
    /// 1, 2, or one of `sysexits.h`.
    let code: Int32

    init(_ line: String, _ code: Int32 = 1) {
        self.line = line
        self.code = code
    }

    /// Nil for an error that no command expects.
    init?(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let refusal as OpsRefusal: self.init(refusal.advice)
        case let refusal as ActRefusal: self.init(refusal.advice, refusal.exitCode)
        case let refusal as Erasure.Refusal: self.init("\(refusal)")
        case is SettingError, is VaultError: self.init("\(error)", 78)
        case is DamagedSchema, is MigrationError: self.init("\(error)", 65)
        case let error as PostgresError where error.isUnavailable: self.init(DatabaseTrouble.line(error), 69)
        case let error as PostgresError where error.sqlState == "42P01":
            self.init("the database has no schema yet, or an older one: run `receipt-relay migrate up` first", 69)
        case let error as PostgresError where error.isStrayStatement: self.init(SettingError.poolerAdvice, 78)
        case is PostgresError: self.init("\(error)", 70)
        default: return nil
        }
    }

    func complain() { Self.complain(line) }

    static func complain(_ line: String) {
        FileHandle.standardError.write(Data("receipt-relay: \(line)\n".utf8))
    }
}
