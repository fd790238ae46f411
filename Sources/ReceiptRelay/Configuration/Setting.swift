/// One key of the configuration with its description. ``all`` lists every key: any other key is an error at the start.
/// ``SettingReference`` prints `docs/configure.md` and `receipt-relay.example.yaml` from it, and a test compares both
/// with the files.
struct Setting: Sendable, Equatable {
    let name: String
    let kind: Kind
    /// Default value. Nil: there is none.
    let standard: String?
    /// Default value with `RELAY_CLEENG_ENVIRONMENT=production`, if it differs.
    let production: String?
    let isSecret: Bool
    let isRequired: Bool
    /// Whether the value identifies a publisher or is its credential. A publisher of ``publishersFile`` never inherits
    /// such a value.
    let isPublishersOwn: Bool
    let group: Group
    let readers: Readers
    /// Example value for a setting without a ``standard``.
    let example: String?
    /// Purpose of the setting: Markdown without a full stop at the end, with links relative to `docs/`.
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

    /// Names that set it. A secret's second name is that of a file with the value.
    var names: [String] { isSecret ? [name, name + "_FILE"] : [name] }

    /// The processes that use the setting. Every role of `serve` validates it.
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
        /// Seconds within the range, with fractions.
        case seconds(ClosedRange<Double>)
        case hours(ClosedRange<Double>)
        case bytes(ClosedRange<Int>)
        case count(ClosedRange<Int>)
        case url
        /// A number from 0 to 1.
        case ratio
        case choice([String])
        case addressRanges
        case path

        /// Description of the allowed values.
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
