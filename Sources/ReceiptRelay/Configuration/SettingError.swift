import RelayCore

/// Why the configuration cannot be used: one line that names the setting, and never its value.
struct SettingError: Error, Equatable, CustomStringConvertible {
    private indirect enum Code: Equatable, Sendable {
        case unknown(String, nearest: String?)
        case missing(String)
        case malformed(String, wants: String)
        case both(String, String)
        case unreadable(String, why: String)
        /// It is one of the relay's, and not of one publisher.
        case shared(String)
        case ofPublisher(String, Code)

        var description: String {
            switch self {
            case .unknown(let name, let nearest?): "\(name) is no setting of receipt-relay; did you mean \(nearest)?"
            case .unknown(let name, nil):
                "\(name) is no setting of receipt-relay; `receipt-relay settings` lists them all"
            case .missing(let name): "\(name) is required and not set"
            case .malformed(let name, let wants): "\(name) is malformed: it wants \(wants)"
            case .both(let one, let other): "\(one) and \(other) are both set: only one of the two may be"
            case .unreadable(let what, let why): "\(what) cannot be read: \(why)"
            case .shared(let name): "\(name) cannot be set for one publisher alone"
            case .ofPublisher(let publisher, let code):
                "publisher \(publisher) of \(Setting.publishersFile.name): \(code.description)"
            }
        }
    }

    private let code: Code

    static let poolerAdvice =
        "prepared statements do not last: behind a pooler in transaction mode set \(Setting.preparedStatements.name)=off"

    static func unknown(_ name: String) -> SettingError {
        let nearest = Setting.all.map(\.name).min { name.distance(to: $0) < name.distance(to: $1) }
        return SettingError(code: .unknown(name, nearest: nearest.flatMap { name.distance(to: $0) <= 5 ? $0 : nil }))
    }
    static func missing(_ name: String) -> SettingError { SettingError(code: .missing(name)) }
    static func malformed(_ name: String, wants: String) -> SettingError {
        SettingError(code: .malformed(name, wants: wants))
    }
    static func both(_ one: String, _ other: String) -> SettingError { SettingError(code: .both(one, other)) }
    static func shared(_ name: String) -> SettingError { SettingError(code: .shared(name)) }
    static func unreadable(_ what: String, why: String) -> SettingError {
        SettingError(code: .unreadable(what, why: why))
    }

    /// Where it stands.
    func ofPublisher(_ publisher: String) -> SettingError { SettingError(code: .ofPublisher(publisher, code)) }

    var description: String { code.description }
}
