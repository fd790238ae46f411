import RelayCore
import Testing

@testable import HTTPServer
@testable import Relay

@Suite("Whose a customer number is")
struct NumberGateTests {
    private struct Directory: CustomerDirectory {
        var owner: NumberOwner
        func owner(of _: Int64, for _: Connector, within _: Duration) async -> NumberOwner { owner }
    }

    private static let google = StoreReceipt.sample(
        .google, ["productId": "gold", "purchaseToken": "token", "packageName": "com.example.app"])
    private static let apple = PurchaseProof.apple(.init(receiptData: "YWJj", transactionID: "42"))
    private static let key = APIKey(
        id: "0123456789abcdef", publisher: "main", role: .app, app: "com.example.app", name: "app", digest: [],
        createdAt: .earliest)

    private func checked(
        _ proof: PurchaseProof, _ owner: NumberOwner, _ policy: DriverPolicy
    ) async throws -> PurchaseRequest {
        var request = PurchaseRequest(
            email: try #require(CustomerEmail(" Ana@Example.test")), offerID: "S1_US", proof: proof,
            applicationUsername: "ana", cleengCustomer: 7)
        let receipt =
            switch proof {
            case .apple(let sent): ReadReceipt(sent.receiptData, transactionID: sent.transactionID)
            case .store(let sent): ReadReceipt(sent, nil, of: Self.key)
            }
        let gate = NumberGate(directories: PerPublisher(Directory(owner: owner)), drivers: policy)
        try await gate.check(7, &request, receipt, of: "main")
        return request
    }

    @Test("a number counts if Cleeng names the purchase's email for it, or cannot be asked yet")
    func own() async throws {
        for owner in [NumberOwner.customer("ana@example.test"), .unanswered("away")] {
            for (proof, policy) in [(PurchaseProof.store(Self.google), DriverPolicy.auto), (Self.apple, .storekit2)] {
                let request = try await checked(proof, owner, policy)
                #expect(request.cleengCustomer == 7 && request.warnings.isEmpty, "\(owner)")
            }
        }
    }

    @Test("another's number is left out with a warning, and refused if only a connector may send the purchase")
    func others() async throws {
        for owner in [NumberOwner.customer("ben@example.test"), .nobody] {
            for policy in [DriverPolicy.auto, .storekit2] {
                let request = try await checked(.store(Self.google), owner, policy)
                #expect(request.cleengCustomer == nil)
                #expect(request.warnings.map(\.field) == ["cleengCustomerId"])
            }
            await #expect(throws: Problem(.anotherCustomer, "")) { try await checked(Self.apple, owner, .storekit2) }
        }
    }

    @Test("nobody is asked about a number by which nothing is sent")
    func unused() async throws {
        for (proof, policy) in [(PurchaseProof.store(Self.google), DriverPolicy.receipt), (Self.apple, .auto)] {
            #expect(try await checked(proof, .nobody, policy).warnings.isEmpty)
        }
    }
}
