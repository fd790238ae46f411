/// Whose work is meant: one publisher's that has an account of its own, or that of all who share the common one. Who has one is
/// written in the database; what this names and that are held together there.
public enum PublisherScope: Sendable, Hashable {
    case only(PublisherID)
    case allBut(Set<PublisherID>)

    /// Where no publisher is known to have an account of its own.
    public static let common = Self.allBut([])
}
