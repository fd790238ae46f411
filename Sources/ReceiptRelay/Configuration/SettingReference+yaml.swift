extension SettingReference {
    /// Content of `receipt-relay.example.yaml`: settings with a default have it, the others are commented out.
    var yaml: String {
        var text = """
            # Every setting of receipt-relay with its default. Copy what you want to change; `receipt-relay serve --config FILE`.
            # The same settings as environment variables win: `http.port` is RELAY_HTTP_PORT. A setting that is commented out has no
            # default. docs/configure.md says more of each.
            #
            # Printed by `receipt-relay settings --format yaml` from what the code declares. A test holds the two together.

            """
        for group in groups {
            text += "\n# \(group.title)" + (group.lead.isEmpty ? "" : ". \(Self.sentence(group.lead))") + "\n"
            if let section = group.section { text += "\(section):\n" }
            for setting in settings(of: group) { text += entry(setting, indent: group.section == nil ? "" : "  ") }
        }
        return text
    }

    private func entry(_ setting: Setting, indent: String) -> String {
        let meaning = Self.sentence(setting.meaning) + (setting.isRequired ? " Required." : "")
        let values = setting.kind.values.replacing("`", with: "")
        var text = Self.wrapped(meaning, at: 120 - indent.count - 2).map { "\(indent)# \($0)\n" }.joined()
        if let production = setting.production {
            text += Self.wrapped("In production \(production).", at: 120 - indent.count - 2).map {
                "\(indent)# \($0)\n"
            }.joined()
            // Commented out: a value written here would also apply in production, which has another default.
            text += "\(indent)#\(setting.leaf): \(Self.scalar(setting.standard ?? "…"))    # \(values)\n"
        } else if let standard = setting.standard {
            text += "\(indent)\(setting.leaf): \(Self.scalar(standard))    # \(values)\n"
        } else {
            text += "\(indent)#\(setting.leaf): \(Self.scalar(setting.example ?? "…"))    # \(values)\n"
        }
        if setting.isSecret {
            let file = "/run/secrets/\(setting.path.replacing(".", with: "_"))"
            text += "\(indent)#\(setting.leaf)_file: \(Self.scalar(file))    # instead\n"
        }
        return text
    }

    /// A YAML scalar, in quotation marks if YAML could read it as another type.
    private static func scalar(_ text: String) -> String {
        text.wholeMatch(of: /[A-Za-z0-9_\/-][A-Za-z0-9_.\/-]*/) == nil ? "\"\(text)\"" : text
    }
}
