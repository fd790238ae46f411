import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends requests through `URLSession`, without cookies, caches and redirects.
public final class URLSessionTransport: RelayTransport {
    private let session: URLSession
    private let configuration: URLSessionConfiguration

    /// - Parameter configuration: defaults to an ephemeral one that neither stores nor sends cookies.
    public init(configuration: URLSessionConfiguration? = nil) {
        self.configuration = configuration ?? Self.quiet
        session = Self.session(self.configuration)
    }

    /// A session retains its delegate until it is invalidated.
    deinit { session.finishTasksAndInvalidate() }

    public func send(_ request: RelayRequest) async throws -> RelayAnswer {
        var urlRequest = URLRequest(
            url: request.url, cachePolicy: .reloadIgnoringLocalCacheData,
            timeoutInterval: request.timeout / .seconds(1))
        urlRequest.httpMethod = request.method
        urlRequest.httpBody = request.body
        for (name, value) in request.headers { urlRequest.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await data(for: urlRequest)
        guard let http = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        let headers = http.allHeaderFields.compactMap { name, value in
            (name as? String).map { ($0, "\(value)") }
        }
        return RelayAnswer(
            status: http.statusCode, headers: Dictionary(headers, uniquingKeysWith: { first, _ in first }), body: data)
    }

    private func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        #if canImport(FoundationNetworking)
            // If a reused connection dies, curl repeats the request on its own and reports only the second try. A
            // purchase that was sent would then look unsent. So each post gets a new connection.
            if request.httpBody != nil {
                let session = Self.session(configuration)
                defer { session.finishTasksAndInvalidate() }
                return try await session.data(for: request)
            }
        #endif
        return try await session.data(for: request)
    }

    private static func session(_ configuration: URLSessionConfiguration) -> URLSession {
        URLSession(configuration: configuration, delegate: NoRedirects(), delegateQueue: nil)
    }

    private static var quiet: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        return configuration
    }
}

/// A redirect would send the app's key and the customer's token elsewhere.
final class NoRedirects: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
