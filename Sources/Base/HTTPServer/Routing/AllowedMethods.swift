import Formats
import HTTPTypes

/// Methods of each path, for the answer to an unsupported one. Used only if no route matched.
struct AllowedMethods: Sendable {
    private let entries: [(segments: [Substring], route: Route)]

    init(_ routes: [Route]) {
        entries = routes.map { (Self.segments($0.path), $0) }
    }

    /// Value of `Allow`; nil if no route has that path.
    func allow(_ path: String) -> String? {
        let asked = Self.segments(path)
        let found = entries.filter { Self.matches($0.segments, asked) && $0.route.isEnding(asked.last) }
        // A literal path takes precedence over one with a parameter: `/ops/validations/replay` is not a validation.
        let exact = found.filter { $0.segments == asked }
        var methods = (exact.isEmpty ? found : exact).map(\.route.method.rawValue)
        guard !methods.isEmpty else { return nil }
        if methods.contains("GET") { methods.append("HEAD") }
        return Set(methods).sorted().joined(separator: ", ")
    }

    static func segments(_ path: String) -> [Substring] {
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
