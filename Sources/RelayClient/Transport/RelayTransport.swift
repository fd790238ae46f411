import Foundation

/// Carries one request to the relay. Another one than ``URLSessionTransport`` is for tests, and for apps with a network
/// stack of their own.
public protocol RelayTransport: Sendable {
    /// - Throws: where no answer came; an answer of any status is no error. Should end soon where the task is
    ///   cancelled.
    func send(_ request: RelayRequest) async throws -> RelayAnswer
}

/// One HTTP request.
public struct RelayRequest: Sendable, Hashable {
    public var method: String
    public var url: URL
    public var headers: [String: String]
    public var body: Data?
    /// For how long an answer may keep still.
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

    /// The value of a header field; its name in any case.
    func header(_ name: String) -> String? {
        headers.first { $0.key.caseInsensitiveCompare(name) == .orderedSame }?.value
    }
}
