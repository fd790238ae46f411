extension SettingReference {
    /// Content of `docs/configure.md`.
    var markdown: String {
        var text = Self.introduction
        text += groups.map { "- [\($0.title)](#\(Self.anchor($0.title)))\n" }.joined()
        text += "- [For one publisher alone](#for-one-publisher-alone)\n"
        for group in groups { text += section(group) }
        return text + Self.ofPublishers
    }

    private static let introduction = """
        # Settings

        <!-- Printed by `receipt-relay settings --format markdown` from what the code declares (Sources/ReceiptRelay/Configuration/Setting+….swift):
             mend it there, and print it anew. A test holds the two together. -->

        Environment variables, or a YAML or JSON file named by `--config FILE`; the environment wins. In a file `RELAY_HTTP_PORT` is `http.port`, nested
        or written with the dot. An empty variable counts as unset. What is unknown or malformed stops the start (exit code 78) with one line:

        ```console
        $ RELAY_HTP_PORT=1 receipt-relay serve
        receipt-relay: RELAY_HTP_PORT is no setting of receipt-relay; did you mean RELAY_HTTP_PORT?
        $ RELAY_HTTP_PORT=http receipt-relay serve
        receipt-relay: RELAY_HTTP_PORT is malformed: it wants a port, 0 to 65535
        ```

        Two are required; all others have defaults that fit. Secrets may stand in files of their own, named by the same setting with `_FILE` at its end. All of it,
        those files included, is read once, when the process starts: whatever is changed counts from the next start on. (Only key sets are read again:
        the one behind `RELAY_CUSTOMER_JWKS_URL`, and those of stores that sign their notifications.)

        [receipt-relay.example.yaml](../receipt-relay.example.yaml) is the same list as a file (`receipt-relay settings --format yaml`), and
        `receipt-relay settings [WORD]` shows it in a terminal. "Acts on it" says who: `front` and `worker` are the roles of `serve` (`all` is both), `commands` is all
        that is not `serve`. Every role and command checks that every setting is well formed.


        """

    private static func anchor(_ title: String) -> String {
        String(title.lowercased().filter { $0.isLetter || $0.isNumber || $0 == " " }.map { $0 == " " ? "-" : $0 })
    }

    private func section(_ group: Setting.Group) -> String {
        var text = "\n## \(group.title)\n\n"
        if !group.lead.isEmpty { text += "\(group.lead)\n\n" }
        text +=
            "| setting | in a file | default | values | acts on it | meaning |\n| --- | --- | --- | --- | --- | --- |\n"
        for setting in settings(of: group) {
            let cells = [
                setting.names.map { "`\($0)`" }.joined(separator: " or "), "`\(setting.path)`",
                Self.standard(setting), setting.kind.values,
                setting.readers.words, setting.meaning,
            ]
            text += "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |\n"
        }
        return text
    }

    private static func standard(_ setting: Setting) -> String {
        guard let standard = setting.standard else { return setting.isRequired ? "required" : "none" }
        return "`\(standard)`" + (setting.production.map { "; in production `\($0)`" } ?? "")
    }

    private static var ofPublishers: String {
        let (own, shared) = (
            Setting.ofPublishers.filter(\.isPublishersOwn), Setting.ofPublishers.filter { !$0.isPublishersOwn }
        )
        func list(_ settings: [Setting]) -> String {
            wrapped(settings.map { "`\($0.path)`" }.joined(separator: ", ") + ".", at: 130).joined(separator: "\n")
        }
        return """

            ## For one publisher alone

            What may stand under a publisher's id in the file that `RELAY_PUBLISHERS_FILE` names ([operate.md](operate.md#several-publishers)). Its own, or nobody's:

            \(list(own))

            And what is as for all others where it is not set:

            \(list(shared))

            """
    }
}
