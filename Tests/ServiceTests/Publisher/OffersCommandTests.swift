import Testing

@Suite struct OffersCommandTests {
    /// A script's variable may be unset. Without `--product`, the whole offer goes.
    @Test func anEmptyProductRemovesNothing() async throws {
        try await Setup.run { setup in
            func offers(_ arguments: String...) async throws -> (code: Int32, output: [String]) {
                try await ChildProcess.run(
                    "receipt-relay", ["offers"] + arguments, environment: ["RELAY_DATABASE_URL": setup.database.url])
            }
            try await setup.database.add(offer: "S1_US", of: "com.example.month")
            for product in ["", String(repeating: "x", count: 256)] {
                let refused = try await offers("remove", "--offer", "S1_US", "--product", product)
                #expect(refused.code != 0 && refused.output.joined().contains("--product"), "\(refused.output)")
            }
            #expect(try await offers("list").output.contains { $0.contains("com.example.month") })
            let removed = try await offers("remove", "--offer", "S1_US", "--product", "com.example.month")
            #expect(removed.code == 0)
            #expect(try await !offers("list").output.contains { $0.contains("com.example.month") })
        }
    }
}
