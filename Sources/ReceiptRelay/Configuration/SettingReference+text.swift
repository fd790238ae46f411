extension SettingReference {
    /// For a terminal: of each what it is called, its default, and what it is for.
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
}
