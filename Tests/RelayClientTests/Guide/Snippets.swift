import Foundation
import RelayClient

func snippets(url: URL, jws: String, accessToken: @escaping @Sendable () async throws -> String) async throws {
    func reveal() {}
    func explain(_ reason: String?) {}
    func apologize() {}
    // begin first
    let relay = RelayClient(baseURL: url, key: "rr_app_…")
    let purchase = Purchase(
        email: "ana@example.test", offer: "S123456789_US",
        proof: .signedTransaction(jws, transactionID: "2000000123456789"))

    switch try await relay.redeem(purchase) {
    case .granted: reveal()
    case .refused(let reason): explain(reason)
    case .assumeFailed: apologize()
    }
    // end first
    // begin token
    let signedIn = RelayClient(baseURL: url, key: "rr_app_…", customerToken: { try await accessToken() })
    // end token
    _ = signedIn
    // begin coupon
    var discounted = purchase
    discounted.coupon = "SPRING-10"
    let taken = try await relay.submit(discounted)
    for warning in taken.warnings { print(warning.field, warning.detail) }
    // end coupon
}
