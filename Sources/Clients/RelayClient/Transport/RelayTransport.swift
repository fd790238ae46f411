import Foundation

/// Sends one request to the relay. Implementations other than ``URLSessionTransport`` are for tests, and for apps with
/// their own network stack.
public protocol RelayTransport: Sendable {
    /// - Throws: if no answer came; an answer of any status is not an error. Should end soon after the task is
    ///   cancelled.
    func send(_ request: RelayRequest) async throws -> RelayAnswer
}

/// One HTTP request.
public struct RelayRequest: Sendable, Hashable {
    public var method: String
    public var url: URL
    public var headers: [String: String]
    public var body: Data?
    /// Longest interval without data from the server.
    public var timeout: Duration

    public init(
        method: String, url: URL, headers: [String: String] = [:], body: Data? = nil, timeout: Duration = .seconds(15)
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }
}

/// One HTTP answer.
public struct RelayAnswer: Sendable, Hashable {
    public var status: Int
    public var headers: [String: String]
    public var body: Data

    public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The value of a header field; the case of `name` does not matter.
    func header(_ name: String) -> String? {
        headers.first { $0.key.caseInsensitiveCompare(name) == .orderedSame }?.value
    }
}
