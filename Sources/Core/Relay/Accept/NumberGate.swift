import HTTPServer
import RelayCore

/// Keeps purchases from being sent under another customer's number at Cleeng.
///
/// A number is only what an app says. It counts once Cleeng names the purchase's email for it. While Cleeng cannot be
/// asked, the purchase is accepted; the worker asks again before it sends.
struct NumberGate: Sendable {
    let directories: PerPublisher<any CustomerDirectory>
    let drivers: DriverPolicy

    /// An app waits for the answer to its post.
    static let patience = Duration.seconds(3)

    /// Removes a number that is not the customer's from the request, and adds a warning.
    ///
    /// - Parameter number: the request's number.
    /// - Throws: ``Problem``: `another_customer` if only a connector may send the purchase.
    func check(
        _ number: Int64, _ request: inout PurchaseRequest, _ receipt: ReadReceipt, of publisher: PublisherID
    ) async throws {
        guard let connector = drivers.connector(for: request, receipt), let directory = directories[publisher] else {
            return
        }
        switch await directory.owner(of: number, for: connector, within: Self.patience) {
        case .customer(request.email.customer), .unanswered: return
        case .customer, .nobody: break
        }
        guard !drivers.forcesConnector(for: request) else {
            throw Problem(
                .anotherCustomer, "cleengCustomerId is not this customer's number at Cleeng; send the customer's own")
        }
        request.cleengCustomer = nil
        request.warnings.append(
            FieldError(
                "cleengCustomerId", .ignored,
                "it is not this customer's number at Cleeng; the purchase goes on without it"))
    }
}
