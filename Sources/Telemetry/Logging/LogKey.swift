import Logging

/// The keys of log metadata. A dashboard or an alert may rely on these names.
public enum LogKey: String, Sendable, Hashable, CaseIterable {
    case app
    case attempt
    case bucket
    case count
    /// An email, shortened by ``Redaction/shortened(email:)``; never a whole one.
    case customer
    case durationMs = "duration_ms"
    case error
    case event
    case instance
    case keyId = "key_id"
    case method
    case notificationId = "notification_id"
    case offer
    case path
    case publisher
    case reason
    case requestId = "request_id"
    case retryAfterMs = "retry_after_ms"
    case role
    case route
    case setting
    case state
    case status
    case subscription
    case traceId = "trace_id"
    case upstreamStatus = "upstream_status"
    case validationId = "validation_id"
    case webhookId = "webhook_id"
    case worker
}

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

/// Makes personal data fit for logs.
public enum Redaction {
    private static let maximumDomainScalars = 64

    /// `ana@example.test` becomes `a***@example.test`.
    ///
    /// Safe for any input: what has no `@` becomes `***`, the domain is cut after 64 characters, and whatever is not a
    /// letter, digit, dot or hyphen is replaced, so that the answer is always short and printable.
    public static func shortened(email: String) -> String {
        let scalars = email.unicodeScalars
        guard let at = scalars.lastIndex(of: "@") else { return "***" }
        var answer = String.UnicodeScalarView()
        if let first = scalars.first, first != "@" {
            answer.append(isPlain(first) ? first : "*")
        }
        answer.append(contentsOf: "***@".unicodeScalars)
        let domain = scalars[scalars.index(after: at)...].prefix(maximumDomainScalars + 1)
        for scalar in domain.prefix(maximumDomainScalars) {
            answer.append(isPlain(scalar) ? scalar : "?")
        }
        if domain.count > maximumDomainScalars {
            answer.append("…")
        }
        return String(answer)
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "." || scalar == "-"
        }
        return switch scalar.properties.generalCategory {
        case .lowercaseLetter, .uppercaseLetter, .otherLetter, .decimalNumber: true
        default: false
        }
    }
}

extension String {
    /// This email as logs may show it; see ``Redaction/shortened(email:)``.
    public func shortenedAsEmail() -> String {
        Redaction.shortened(email: self)
    }
}
