/// Says whose a customer number is at Cleeng.
public protocol CustomerDirectory: Sendable {
    /// - Parameters:
    ///   - connector: the connector that the number is for. While its route is shut, nothing is asked.
    ///   - patience: longest wait for a place, and then for Cleeng's answer.
    func owner(of number: Int64, for connector: Connector, within patience: Duration) async -> NumberOwner
}

/// Answer to whose a customer number is. An app's word for it counts for nothing: only Cleeng knows.
public enum NumberOwner: Sendable, Equatable {
    case customer(CustomerID)
    /// Cleeng knows no customer by this number, or by an email that a purchase cannot have.
    case nobody
    /// Cleeng could not be asked, for this reason.
    case unanswered(String)
}
