import Foundation

/// An app's way to the relay: posts a purchase, waits for its outcome, and asks whether a customer is entitled.
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
/// A value without state of its own: make one for the app and copy it where it is needed. Its calls may run at the same
/// time.
public struct RelayClient: Sendable {
    /// A JSON Web Token that says who the customer is, for relays that ask for one (`X-Customer-Token`). It is asked
    /// for before every request, so give out a kept one while it is valid.
    public typealias CustomerToken = @Sendable () async throws -> String

    let baseURL: URL
    let key: String
    let customerToken: CustomerToken?
    let transport: any RelayTransport
    let time: Timekeeper

    /// - Parameters:
    ///   - baseURL: of the relay's app front, such as `https://relay.example.com`; a path in it is kept.
    ///   - key: of role `app`. It names the app, and proves nobody's identity.
    ///   - customerToken: for relays that ask who the customer is.
    ///   - transport: carries the requests.
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
