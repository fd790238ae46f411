/// How far a message has come. The numbers are stored.
public enum DeliveryState: Int16, Sendable, CaseIterable {
    case waiting = 0
    case delivered = 1
    /// All its tries failed, or the endpoint wants no more.
    case failed = 2
    /// A newer state of the same customer took its place.
    case replaced = 3
    /// Its endpoint was disabled or removed before it was delivered.
    case dropped = 4
    /// It cannot be processed and waits for an operator. Never stored so: the queue says it.
    case parked = 5

    public var name: String { "\(self)" }
}
