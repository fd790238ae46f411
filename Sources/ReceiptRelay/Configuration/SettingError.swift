import Formats

/// An unusable configuration, as one line that names the setting and never its value.
indirect enum SettingError: Error, CustomStringConvertible {
    case unknown(String)
    case missing(Setting)
    case malformed(Setting, wants: String)
    case both(String, String)
    case unreadable(String, why: String)
    /// The setting belongs to the relay and cannot be set for one publisher.
    case shared(String)
    /// Adds the publisher whose settings contain the error.
    case ofPublisher(String, SettingError)

    static let poolerAdvice =
        "prepared statements do not last: behind a pooler in transaction mode set \(Setting.preparedStatements.name)=off"

    static func unreadable(fileOf setting: Setting, why: String) -> SettingError {
        .unreadable("the file that \(setting.name) names", why: why)
    }

    var description: String {
        switch self {
        case .unknown(let name):
            "\(name) is no setting of receipt-relay; "
                + (Self.nearest(name).map { "did you mean \($0)?" } ?? "`receipt-relay settings` lists them all")
        case .missing(let setting): "\(setting.name) is required and not set"
        case .malformed(let setting, let wants): "\(setting.name) is malformed: it wants \(wants)"
        case .both(let one, let other): "\(one) and \(other) are both set: only one of the two may be"
        case .unreadable(let what, let why): "\(what) cannot be read: \(why)"
        case .shared(let name): "\(name) cannot be set for one publisher alone"
        case .ofPublisher(let publisher, let error):
            "publisher \(publisher) of \(Setting.publishersFile.name): \(error)"
        }
    }

    private static func nearest(_ name: String) -> String? {
        let nearest = Setting.all.map(\.name).min { name.distance(to: $0) < name.distance(to: $1) }
        return nearest.flatMap { name.distance(to: $0) <= 5 ? $0 : nil }
    }
}
