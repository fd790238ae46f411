import ArgumentParser

struct Settings: ParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, markdown, yaml
    }

    static let configuration = CommandConfiguration(
        abstract: "Lists every setting with its default, its values and its meaning.",
        discussion: """
            Needs neither a configuration nor a database. `--format markdown` is docs/configure.md, `--format yaml` is \
            receipt-relay.example.yaml: both are printed by it.
            """)

    @Argument(help: "Only settings in whose name this stands.")
    var word: String?

    @Option(help: "text, markdown or yaml.")
    var format = Format.text

    func validate() throws {
        if word != nil, format != .text { throw ValidationError("a word goes with --format text alone") }
    }

    func run() throws {
        let word = (word ?? "").lowercased()
        let found = Setting.all.filter {
            word.isEmpty || $0.name.lowercased().contains(word) || $0.path.contains(word)
        }
        guard !found.isEmpty else {
            throw Failure("no setting has \(TextTable.plain(self.word ?? "")) in its name")
        }
        let reference = SettingReference(found)
        switch format {
        case .text: print(reference.text, terminator: "")
        case .markdown: print(reference.markdown, terminator: "")
        case .yaml: print(reference.yaml, terminator: "")
        }
    }
}
