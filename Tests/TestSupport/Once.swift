/// Creates a value on first use. Concurrent and later callers get the same one.
public actor Once<Value: Sendable> {
    private let make: @Sendable () async throws -> Value
    private var making: Task<Value, any Error>?

    public init(_ make: @escaping @Sendable () async throws -> Value) { self.make = make }

    public func value() async throws -> Value {
        let task = making ?? Task { [make] in try await make() }
        making = task
        return try await task.value
    }
}
