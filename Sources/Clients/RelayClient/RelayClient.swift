import Foundation

/// Client of the relay for apps: posts a purchase, waits for its outcome, and asks whether a customer is entitled.
///
/// ```swift
/// let relay = RelayClient(baseURL: url, key: "rr_app_…")
/// switch try await relay.redeem(purchase) {
/// case .granted: reveal()
/// case .refused(let reason): explain(reason)
/// case .assumeFailed: apologize()
/// }
/// ```
///
/// A value without state of its own: create one and copy it freely. Its calls may run concurrently.
public struct RelayClient: Sendable {
    /// Provides a JSON Web Token that identifies the customer, for relays that require it (`X-Customer-Token`). Called
    /// before every request, so return a cached token while it is valid.
    public typealias CustomerToken = @Sendable () async throws -> String

    let baseURL: URL
    let key: String
    let customerToken: CustomerToken?
    let transport: any RelayTransport
    let time: Timekeeper

    /// - Parameters:
    ///   - baseURL: of the relay's app front, such as `https://relay.example.com`; a path in it is kept.
    ///   - key: an API key of role `app`. It identifies the app, but authenticates no person.
    ///   - customerToken: for relays that require a customer's identity.
    ///   - transport: sends the requests.
    public init(
        baseURL: URL, key: String, customerToken: CustomerToken? = nil,
        transport: any RelayTransport = URLSessionTransport()
    ) {
        self.init(baseURL: baseURL, key: key, customerToken: customerToken, transport: transport, time: .system)
    }

    init(
        baseURL: URL, key: String, customerToken: CustomerToken? = nil, transport: any RelayTransport, time: Timekeeper
    ) {
        self.baseURL = baseURL
        self.key = key
        self.customerToken = customerToken
        self.transport = transport
        self.time = time
    }
}
