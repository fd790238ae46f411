/// Which environment's purchases an endpoint receives. Raw values are stored.
public enum WebhookEnvironment: Int16, Sendable, CaseIterable {
    case all = 0
    case production = 1
    case sandbox = 2

    public var name: String {
        switch self {
        case .all: "all"
        case .production: "production"
        case .sandbox: "sandbox"
        }
    }

    public init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }
}
