/// One key of the configuration, and all that is to be said of it. ``all`` is the whole list: what is not in it stops the start.
/// `docs/configure.md` and `receipt-relay.example.yaml` are printed from it (``SettingReference``), and a test holds them to that.
struct Setting: Sendable, Equatable {
    let name: String
    let kind: Kind
    /// What counts where nothing is set. Nil: there is no such value.
    let standard: String?
    /// What counts there instead with `RELAY_CLEENG_ENVIRONMENT=production`.
    let production: String?
    let isSecret: Bool
    let isRequired: Bool
    /// Says who a publisher is, or opens something for it: a publisher of ``publishersFile`` never gets another one's.
    let isPublishersOwn: Bool
    let group: Group
    let readers: Readers
    /// A value that could stand there, where there is no ``standard``.
    let example: String?
    /// What it is for: Markdown without a full stop at the end, its links as `docs/` has them.
    let meaning: String

    init(
        _ name: String, _ kind: Kind, standard: String? = nil, production: String? = nil, isSecret: Bool = false,
        isRequired: Bool = false, isPublishersOwn: Bool = false, group: Group, readers: Readers,
        example: String? = nil, _ meaning: String
    ) {
        self.name = name
        self.kind = kind
        self.standard = standard
        self.production = production
        self.isSecret = isSecret
        self.isRequired = isRequired
        self.isPublishersOwn = isPublishersOwn
        self.group = group
        self.readers = readers
        self.example = example
        self.meaning = meaning
    }

    static let prefix = "RELAY_"

    /// `RELAY_HTTP_PORT` is `relay.http.port` for the configuration library and `http.port` in a file.
    var key: [String] { name.lowercased().split(separator: "_").map(String.init) }

    /// Under which it can be set: a secret in a file of its own, too.
    var names: [String] { isSecret ? [name, name + "_FILE"] : [name] }

    /// The processes that use it. Every role of `serve` validates it.
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

extension Setting {
    enum Kind: Sendable, Equatable {
        case text
        /// A text of this form, described in words.
        case form(String)
        case port
        /// Seconds, fractions allowed, within the range.
        case seconds(ClosedRange<Double>)
        case hours(ClosedRange<Double>)
        case bytes(ClosedRange<Int>)
        case count(ClosedRange<Int>)
        case url
        /// 0 to 1.
        case ratio
        case choice([String])
        case addressRanges
        case path

        /// What may stand there.
        var values: String {
            switch self {
            case .text: "text"
            case .form(let words): words
            case .port: "0 to 65535; 0 takes any free one"
            case .seconds(let range): "\(Self.text(range)) seconds"
            case .hours(let range): "\(Self.text(range)) hours"
            case .bytes(let range): "\(range.lowerBound) to \(range.upperBound) bytes"
            case .count(let range): "\(range.lowerBound) to \(range.upperBound)"
            case .url: "an http or https URL"
            case .ratio: "0 to 1"
            case .choice(let choices): choices.map { "`\($0)`" }.joined(separator: ", ")
            case .addressRanges: "addresses and ranges, comma-separated"
            case .path: "the path of a file"
            }
        }

        private static func text(_ range: ClosedRange<Double>) -> String {
            "\(text(range.lowerBound)) to \(text(range.upperBound))"
        }

        private static func text(_ number: Double) -> String {
            Int(exactly: number).map(String.init) ?? "\(number)"
        }
    }
}
