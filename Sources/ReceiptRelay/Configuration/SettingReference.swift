/// The list of all settings: `docs/configure.md`, `receipt-relay.example.yaml`, and a text for a terminal.
struct SettingReference: Sendable {
    let settings: [Setting]

    init(_ settings: [Setting] = Setting.all) { self.settings = settings }

    /// Text for a terminal: name, default and purpose of each setting.
    var text: String {
        settings.map { setting in
            let standard = setting.standard ?? (setting.isRequired ? "(required)" : "(none)")
            let values = setting.kind.values.replacing("`", with: "")
            var lines = ["\(setting.names.joined(separator: ", "))  \(standard)"]
            lines += Self.wrapped(Self.sentence(setting.meaning), at: 100).map { "    \($0)" }
            if let production = setting.production { lines.append("    in production \(production)") }
            lines.append("    \(setting.path)  \(values)  [\(setting.readers.words)]")
            return lines.joined(separator: "\n") + "\n"
        }.joined(separator: "\n")
    }

    /// The settings of a group, in their order.
    func settings(of group: Setting.Group) -> [Setting] { settings.filter { $0.group == group } }

    /// The groups that have settings.
    var groups: [Setting.Group] { Setting.Group.all.filter { !settings(of: $0).isEmpty } }

    /// The Markdown as a sentence: links become their text, with a capital letter at the start and a full stop.
    static func sentence(_ markdown: String) -> String {
        let text = markdown.replacing(/\[([^\]]+)\]\([^)]*\)/) { $0.1 }
        let isName = text.hasPrefix("`")
        return (isName ? text : text.prefix(1).uppercased() + text.dropFirst()) + (text.hasSuffix(".") ? "" : ".")
    }

    /// Lines of at most `width` characters, broken at spaces.
    static func wrapped(_ text: String, at width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}

extension Setting {
    /// Path in a file, such as `http.port`.
    var path: String { ([group.section].compactMap(\.self) + [leaf]).joined(separator: ".") }

    /// Key in a file, within its section.
    var leaf: String {
        let name = name.dropFirst(Self.prefix.count).lowercased()
        return group.section.map { String(name.dropFirst($0.count + 1)) } ?? name
    }
}
