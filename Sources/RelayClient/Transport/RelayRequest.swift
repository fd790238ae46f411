import Foundation

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
