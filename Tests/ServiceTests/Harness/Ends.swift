/// A process, or several, that end with the test.
protocol Ends {
    func end() async
}

extension Ends {
    /// Runs the body and then ends this, also if the body fails.
    func during<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            let value = try await body()
            await end()
            return value
        } catch {
            await end()
            throw error
        }
    }
}
