import Foundation

/// Colours, where a terminal shows them and nobody asked for none.
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
