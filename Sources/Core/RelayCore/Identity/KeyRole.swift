/// Permissions of a key. Raw values are stored.
public enum KeyRole: Int16, Sendable, CaseIterable {
    /// Key inside an app. It identifies the app and does not authenticate a person.
    case app = 1
    /// A publisher's back end.
    case publisher = 2
    case opsViewer = 3
    case opsOperator = 4

    public var name: String {
        switch self {
        case .app: "app"
        case .publisher: "publisher"
        case .opsViewer: "ops-viewer"
        case .opsOperator: "ops-operator"
        }
    }

    public init?(name: String) {
        guard let role = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = role
    }

    /// Whether the role may use routes of the required role. An operator may do what a viewer may.
    public func opens(_ required: KeyRole) -> Bool {
        self == required || (self == .opsOperator && required == .opsViewer)
    }
}
