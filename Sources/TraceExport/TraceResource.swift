/// Who sends spans.
public struct TraceResource: Sendable {
    public var serviceName: String
    public var version: String
    /// Tells the copies apart.
    public var instance: String

    public init(serviceName: String, version: String, instance: String) {
        self.serviceName = serviceName
        self.version = version
        self.instance = instance
    }

    var attributes: [(key: String, value: String)] {
        [
            ("service.name", serviceName), ("service.version", version), ("service.instance.id", instance),
            ("telemetry.sdk.language", "swift"),
        ]
    }
}
