import Foundation
import RelayClient

/// The command's output: one line for each state, with its time.
enum Report {
    static func show(_ validation: RelayClient.Validation) {
        let colour: Colour =
            switch validation.status {
            case .pending: .yellow
            case _ where validation.accessGranted: .green
            default: .red
            }
        line("\(colour.paint(validation.status.rawValue))  \(meaning(validation))")
        if validation.status == .pending {
            out("          validation \(validation.id), deadline \(validation.deadline.formatted(.iso8601))")
        }
        for warning in validation.warnings { out("          \(warning.field): \(warning.detail)") }
    }

    static func show(_ error: RelayError) {
        line("\(Colour.red.paint(exitStatus(error) == 1 ? "not taken in" : "could not"))  \(error)")
        if error.mayHaveBeenTaken { out("          the relay may have it: post the same again to find out") }
    }

    static func complain(_ text: String) { FileHandle.standardError.write(Data("error: \(text)\n".utf8)) }

    static func exitStatus(_ outcome: Outcome) -> Int32 {
        switch outcome {
        case .granted: 0
        case .refused: 1
        case .assumeFailed: 2
        }
    }

    /// Exit status of an error: 1 if the relay refused the purchase, otherwise 3, since the error says nothing about
    /// the purchase.
    static func exitStatus(_ error: RelayError) -> Int32 {
        error.httpStatus == 413 || error.httpStatus == 422 ? 1 : 3
    }

    private static func meaning(_ validation: RelayClient.Validation) -> String {
        switch validation.outcome {
        case nil: "not decided yet"
        case .granted(let until, let late):
            "access is open\(until.map { " until \($0.formatted(.iso8601))" } ?? ""): reveal the content"
                + (late ? " (it came after the deadline)" : "")
        case .refused(let reason): refusal(validation.status) + (reason.map { ": \($0)" } ?? "")
        case .assumeFailed: "no grant within the time allowed: assume that it failed and tell the user"
        }
    }

    private static func refusal(_ status: RelayClient.Validation.Status) -> String {
        switch status {
        case .transferred: "the subscription belongs to another email now"
        case .revoked: "access has ended"
        default: "refused"
        }
    }

    private static func line(_ text: String) {
        let clock = Date.now.formatted(
            Date.ISO8601FormatStyle(timeZone: .current).time(includingFractionalSeconds: false))
        out("\(Colour.dim.paint(clock))  \(text)")
    }

    private static func out(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }
}

/// Colours, if a terminal shows them and the user did not switch them off.
enum Colour: String {
    case dim = "2"
    case red = "31;1"
    case green = "32;1"
    case yellow = "33;1"

    private static let isWanted: Bool = {
        let environment = ProcessInfo.processInfo.environment
        return isatty(STDOUT_FILENO) == 1 && (environment["NO_COLOR"] ?? "").isEmpty
            && environment["TERM", default: "dumb"] != "dumb"
    }()

    func paint(_ text: String) -> String { Self.isWanted ? "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" : text }
}
