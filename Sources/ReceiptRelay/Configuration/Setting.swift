/// One key of the configuration, and all that is to be said of it. ``all`` is the whole list: what is not in it stops the start.
/// `docs/configure.md` and `receipt-relay.example.yaml` are printed from it (``SettingReference``), and a test holds them to that.
struct Setting: Sendable, Equatable {
    let name: String
    let kind: Kind
    /// What counts where nothing is set. Nil: there is no such value.
    let standard: String?
    /// What counts there instead with `RELAY_CLEENG_ENVIRONMENT=production`.
    var production: String?
    var isSecret = false
    var isRequired = false
    /// Says who a publisher is, or opens something for it: a publisher of ``publishersFile`` never gets another one's.
    var isPublishersOwn = false
    let group: Group
    let readers: Readers
    /// A value that could stand there, where there is no ``standard``.
    var example: String?
    /// What it is for: Markdown without a full stop at the end, its links as `docs/` has them.
    let meaning: String

    static let prefix = "RELAY_"

    /// `RELAY_HTTP_PORT` is `relay.http.port` for the configuration library and `http.port` in a file.
    var key: [String] { name.lowercased().split(separator: "_").map(String.init) }

    /// Under which it can be set: a secret in a file of its own, too.
    var names: [String] { isSecret ? [name, name + "_FILE"] : [name] }

    /// Who acts on it. Every role of `serve` looks whether it is well formed.
    struct Readers: OptionSet, Sendable, Equatable {
        let rawValue: UInt8

        static let front = Readers(rawValue: 1)
        static let worker = Readers(rawValue: 2)
        static let commands = Readers(rawValue: 4)
        static let service: Readers = [front, worker]
        static let everything: Readers = [front, worker, commands]

        var words: String {
            [(Readers.front, "front"), (.worker, "worker"), (.commands, "commands")]
                .filter { contains($0.0) }.map(\.1).joined(separator: ", ")
        }
    }
}
