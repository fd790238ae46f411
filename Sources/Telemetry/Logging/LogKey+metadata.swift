import Logging

extension Logger.Metadata {
    /// Metadata under the service's own keys: `metadata: .init([.validationId: "\(id)", .status: "granted"])`.
    public init(_ values: [LogKey: Logger.MetadataValue]) {
        self.init(minimumCapacity: values.count)
        for (key, value) in values {
            self[key.rawValue] = value
        }
    }

    /// One entry, read or set by the service's own key.
    public subscript(_ key: LogKey) -> Logger.MetadataValue? {
        get { self[key.rawValue] }
        set { self[key.rawValue] = newValue }
    }
}

extension Logger {
    /// Metadata that every later event of this logger carries.
    public subscript(_ key: LogKey) -> MetadataValue? {
        get { self[metadataKey: key.rawValue] }
        set { self[metadataKey: key.rawValue] = newValue }
    }
}

extension Logger.MetadataValue {
    /// A number that stays a number in the JSON line.
    public static func number(_ value: Int) -> Self {
        .stringConvertible(value)
    }

    /// Whole milliseconds, as a number.
    public static func milliseconds(_ duration: Duration) -> Self {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        let (total, overflowToo) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return .stringConvertible(overflow || overflowToo ? Int64.max : total)
    }

    /// A customer, by shortened email.
    public static func customer(_ email: String) -> Self {
        .string(Redaction.shortened(email: email))
    }
}
