/// A process, or several, to be ended with the test.
protocol Ends {
    func end() async
}

extension Ends {
    /// Runs the body, then ends this, also where the body fails.
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
