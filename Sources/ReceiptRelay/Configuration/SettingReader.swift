import Configuration
import Formats
import Foundation
import Postgres
import Relay
import RelayCore
import Yams

/// Reads settings: from the environment first, then from the file, then the default.
struct SettingReader: Sendable {
    private let reader: ConfigReader
    /// Fallback for one publisher's settings, used only for settings that publishers may share.
    private let common: ConfigReader?
    /// Publishers that have their own account on any copy.
    let roster: AccountRoster

    /// - Parameters:
    ///   - environment: variables. Each that starts with `RELAY_` must be known; an empty one counts as unset.
    ///   - file: YAML or JSON. Its keys are the settings' names without the prefix, nested or not.
    /// - Throws: ``SettingError`` for an unknown name.
    init(environment: [String: String], file: String?) throws {
        let variables = environment.filter { $0.key.hasPrefix(Setting.prefix) && !$0.value.isEmpty }
        let known = Set(Setting.all.flatMap(\.names))
        for name in variables.keys.sorted() where !known.contains(name) { throw SettingError.unknown(name) }
        var providers: [any ConfigProvider] = [EnvironmentVariablesProvider(environmentVariables: variables)]
        if let file {
            let what = "the file given by --config"
            let values = try Self.node(inFile: file, what).map { try Self.flatten($0, under: "", what) } ?? [:]
            for (name, value) in values.sorted(by: { $0.key < $1.key }) where !known.contains(name) {
                // The file has a section without values: all its keys are commented out.
                if value.isEmpty, known.contains(where: { $0.hasPrefix(name + "_") }) { continue }
                throw SettingError.unknown(name)
            }
            providers.append(Self.provider(values.filter { variables[Self.alternative(to: $0.key)] == nil }))
        }
        reader = ConfigReader(providers: providers)
        common = nil
        roster = AccountRoster()
    }

    /// - Parameters:
    ///   - own: one publisher's settings: values by names with prefix.
    ///   - common: fallback for settings that the publisher does not have.
    init(own: [String: String], common: SettingReader) {
        reader = ConfigReader(providers: [Self.provider(own)])
        self.common = common.reader
        roster = common.roster
    }

    private static func provider(_ values: [String: String]) -> InMemoryProvider {
        InMemoryProvider(
            values: Dictionary(
                values.filter { !$0.value.isEmpty }.map { name, value in
                    (
                        AbsoluteConfigKey(name.lowercased().split(separator: "_").map(String.init)),
                        ConfigValue(.string(value), isSecret: true)
                    )
                }
            ) { first, _ in first })
    }

    /// The second name of the same setting. The environment overrides the file under either name.
    private static func alternative(to name: String) -> String {
        switch name {
        case Setting.customerJWKSURL.name: Setting.customerJWKSFile.name
        case Setting.customerJWKSFile.name: Setting.customerJWKSURL.name
        case _ where name.hasSuffix("_FILE"): String(name.dropLast("_FILE".count))
        default: name + "_FILE"
        }
    }

    /// - Parameter what: name of the file in errors.
    static func node(inFile path: String, _ what: String) throws -> Node? {
        let text = try contents(ofFile: path, what)
        do {
            return try Yams.compose(yaml: text)
        } catch YamlError.duplicatedKeysInMapping {
            throw SettingError.unreadable(what, why: "a name stands in it twice")
        } catch YamlError.scanner(_, _, let mark, _), YamlError.parser(_, _, let mark, _),
            YamlError.composer(_, _, let mark, _)
        {
            throw SettingError.unreadable(what, why: "line \(mark.line) is neither YAML nor JSON")
        } catch {
            throw SettingError.unreadable(what, why: "it is neither YAML nor JSON")
        }
    }

    /// Reads a text file of at most 1 MiB.
    ///
    /// - Parameter what: name of the file in errors.
    private static func contents(ofFile path: String, _ what: String) throws -> String {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw SettingError.unreadable(what, why: "there is none")
        }
        guard !isFolder.boolValue else { throw SettingError.unreadable(what, why: "it is a folder") }
        // Reads at most one byte more than the limit, whatever size the file system reports: a device has none.
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw SettingError.unreadable(what, why: "this user may not read it")
        }
        defer { try? file.close() }
        guard let data = try? file.read(upToCount: mostBytes + 1) ?? Data() else {
            throw SettingError.unreadable(what, why: "reading it failed")
        }
        guard data.count <= mostBytes else { throw SettingError.unreadable(what, why: "it is larger than 1 MiB") }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw SettingError.unreadable(what, why: "it is no UTF-8 text")
        }
        return text
    }

    private static let mostBytes = 1 << 20

    /// The setting's name for a path in a file. The path may omit the prefix.
    private static func name(_ path: String) -> String {
        let name = path.uppercased()
        return name.hasPrefix(Setting.prefix) ? name : Setting.prefix + name
    }

    /// Values by the settings' names with prefix.
    static func flatten(_ node: Node, under path: String, _ what: String) throws -> [String: String] {
        switch node {
        case .mapping(let mapping):
            var values: [String: String] = [:]
            for (key, value) in mapping {
                guard let key = key.scalar?.string else { continue }
                let name = (path.isEmpty ? key : "\(path)_\(key)").replacingOccurrences(of: "-", with: "_")
                    .replacingOccurrences(of: ".", with: "_")
                values.merge(try flatten(value, under: name, what), uniquingKeysWith: { $1 })
            }
            return values
        case .scalar(let scalar):
            let isNull = scalar.style == .plain && ["", "~", "null"].contains(scalar.string.lowercased())
            return [name(path): isNull ? "" : scalar.string]
        case .sequence(let items):
            return [
                name(path): items.compactMap(\.scalar?.string).joined(separator: ",")
            ]
        case .alias:
            throw SettingError.unreadable(what, why: "aliases are not supported")
        }
    }

    /// Text of a setting from the environment, the file or the default; nil if there is none.
    func text(_ setting: Setting) throws -> String? {
        if let text = try text(setting, in: reader) { return text }
        if let common, !setting.isPublishersOwn, let text = try text(setting, in: common) { return text }
        guard let production = setting.production, try cleengEnvironment() == .production else {
            return setting.standard
        }
        return production
    }

    func cleengEnvironment() throws -> CleengEnvironment { try choice(.cleengEnvironment) }

    private func text(_ setting: Setting, in reader: ConfigReader) throws -> String? {
        let direct = reader.string(forKey: ConfigKey(setting.key), isSecret: setting.isSecret)
        guard setting.isSecret, let path = reader.string(forKey: ConfigKey(setting.key + ["file"])) else {
            return direct
        }
        guard direct == nil else { throw SettingError.both(setting.name, setting.name + "_FILE") }
        let secret = try Self.contents(ofFile: path, "the file that \(setting.name)_FILE names").trimmingSpace()
        guard !secret.isEmpty else { throw SettingError.missing(setting) }
        return secret
    }

    func required(_ setting: Setting) throws -> String {
        guard let text = try text(setting) else { throw SettingError.missing(setting) }
        return text
    }

    func databaseURL() throws -> String {
        let text = try required(.databaseURL)
        guard PostgresConfiguration(connectionString: text).connectionStringError == nil else {
            throw SettingError.malformed(.databaseURL, wants: "what libpq takes: postgresql://… or keyword=value pairs")
        }
        return text
    }

    func preparesStatements() throws -> Bool { try choice(.preparedStatements) == "on" }

    func requiresTLS() throws -> Bool { try choice(.requireTLS) == "true" }

    /// An address or a name to listen on. Whether this machine has it is known only when it is bound.
    func host(_ setting: Setting) throws -> String {
        let text = try required(setting)
        guard text.wholeMatch(of: /[A-Za-z0-9._:%-]{1,255}/) != nil else {
            throw SettingError.malformed(setting, wants: "an address or a host name")
        }
        return text
    }

    private func number<Number: LosslessStringConvertible & Comparable>(
        _ setting: Setting, in range: ClosedRange<Number>, wants: String
    ) throws -> Number {
        guard let number = Number(try required(setting)), range.contains(number) else {
            throw SettingError.malformed(setting, wants: wants)
        }
        return number
    }

    func port(_ setting: Setting) throws -> Int {
        try number(setting, in: 0...65_535, wants: "a port, 0 to 65535")
    }

    func integer(_ setting: Setting) throws -> Int {
        let range: ClosedRange<Int> =
            switch setting.kind {
            case .bytes(let range), .count(let range): range
            default: 0...Int.max
            }
        return try number(
            setting, in: range, wants: "a whole number from \(range.lowerBound) to \(range.upperBound)")
    }

    func retention() throws -> RetentionPolicy {
        RetentionPolicy(days: try integer(.retentionDays), receiptDays: try integer(.receiptRetentionDays))
    }

    func duration(_ setting: Setting) throws -> Duration {
        let (range, unit, name): (ClosedRange<Double>, Double, String) =
            switch setting.kind {
            case .hours(let range): (range, 3_600, "hours")
            case .seconds(let range): (range, 1, "seconds")
            default: (0...1e9, 1, "seconds")
            }
        let count = try number(
            setting, in: range, wants: "a number of \(name) from \(range.lowerBound) to \(range.upperBound)")
        return .seconds(rounded: count * unit)
    }

    func ratio(_ setting: Setting) throws -> Double {
        try number(setting, in: 0...1, wants: "a number from 0 to 1")
    }

    func url(_ setting: Setting) throws -> String? {
        guard let text = try text(setting) else { return nil }
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host?.isEmpty == false, url.port.map({ (1...65_535).contains($0) }) ?? true
        else { throw SettingError.malformed(setting, wants: "an http or https URL") }
        return text
    }

    /// Returns one of the setting's choices.
    func choice<Value: RawRepresentable<String>>(_ setting: Setting) throws -> Value {
        guard let value = Value(rawValue: try choice(setting)) else { throw notChosen(setting) }
        return value
    }

    private func choice(_ setting: Setting) throws -> String {
        let text = try required(setting)
        guard case .choice(let choices) = setting.kind, choices.contains(text) else { throw notChosen(setting) }
        return text
    }

    private func notChosen(_ setting: Setting) -> SettingError {
        let choices = if case .choice(let choices) = setting.kind { choices } else { [String]() }
        return .malformed(setting, wants: "one of \(choices.joined(separator: ", "))")
    }

    /// Returns the texts between commas without empty ones.
    func list(_ setting: Setting) throws -> [String] {
        (try text(setting) ?? "").parts(at: ",").map { String($0.trimmingSpace()) }.filter { !$0.isEmpty }
    }

    /// Contents of the file that a setting names; nil if the setting is not set.
    func file(_ setting: Setting) throws -> Data? {
        guard let path = try text(setting) else { return nil }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw SettingError.unreadable(fileOf: setting, why: "it is missing")
        }
        return data
    }

    /// Base URL without a trailing slash, to which paths are appended. It must not have a user, which would be a secret
    /// in an address. A query or fragment would swallow the path.
    func base(_ setting: Setting) throws -> String {
        var text = try required(setting)
        while text.hasSuffix("/") { text.removeLast() }
        guard text.utf8.count <= 2_048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host()?.isEmpty == false, url.user() == nil, url.query() == nil, url.fragment() == nil
        else {
            throw SettingError.malformed(
                setting, wants: "http(s)://host[:port][/path], without user, query or fragment")
        }
        return text
    }

    /// Keys that wrap data keys. The first one wraps, the others only unwrap. Without any, nothing is sealed.
    func wrappingKeys() throws -> [WrappingKey] {
        guard let text = try text(.encryptionKeys) else { return [] }
        let parts = text.split { $0 == "," || $0.isWhitespace }
        let keys = parts.compactMap { WrappingKey(base64: String($0)) }
        guard keys.count == parts.count, (1...16).contains(keys.count) else {
            throw SettingError.malformed(
                .encryptionKeys,
                wants:
                    "one to sixteen keys of 32 bytes in Base64, the current one first: `receipt-relay encryption create-key` makes one"
            )
        }
        return keys
    }
}
