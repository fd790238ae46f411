import ArgumentParser

/// What every simulated store is told.
struct ServeOptions: ParsableArguments {
    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 picks a free one and shows it in the start line.")
    var port = 8092

    @Option(help: "How many requests /control/requests remembers.")
    var keepRequests = 10_000

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port is 0 to 65535") }
        guard (1...100_000).contains(keepRequests) else { throw ValidationError("--keep-requests is 1 to 100000") }
    }
}
