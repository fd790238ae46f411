import HTTPTypes
import RelayCore

/// Which methods a path takes, for the answer to one that it does not take. Asked only when no route matched.
struct AllowedMethods: Sendable {
    private let entries: [(segments: [Substring], method: HTTPRequest.Method)]

    init(_ routes: [Route]) {
        entries = routes.map { (Self.segments($0.path), $0.method) }
    }

    /// The value of `Allow`; nil where nothing has that path.
    func allow(_ path: String) -> String? {
        let asked = Self.segments(path)
        let found = entries.filter { Self.matches($0.segments, asked) }
        // A path that stands there in full is not one with a name in it: `/ops/validations/replay` is no validation.
        let exact = found.filter { $0.segments == asked }
        var methods = (exact.isEmpty ? found : exact).map(\.method.rawValue)
        guard !methods.isEmpty else { return nil }
        if methods.contains("GET") { methods.append("HEAD") }
        return Set(methods).sorted().joined(separator: ", ")
    }

    private static func segments(_ path: String) -> [Substring] {
        path.parts(at: "/", maxSplits: 17).filter { !$0.isEmpty }
    }

    private static func matches(_ template: [Substring], _ path: [Substring]) -> Bool {
        if template.last == "**" {
            return path.count >= template.count
                && matches(template.dropLast(), Array(path.prefix(template.count - 1)))
        }
        return template.count == path.count && zip(template, path).allSatisfy { $0.hasPrefix(":") || $0 == $1 }
    }
}
