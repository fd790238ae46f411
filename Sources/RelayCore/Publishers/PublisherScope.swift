/// Whose work is meant: one publisher's that has an account of its own, or that of all who share the common one.
public enum PublisherScope: Sendable, Hashable {
    case only(String)
    case allBut(Set<String>)

    public static let everybody = Self.allBut([])

    public func contains(_ publisher: String) -> Bool {
        switch self {
        case .only(let one): one == publisher
        case .allBut(let others): !others.contains(publisher)
        }
    }
}
