import Formats
import Foundation
import RelayCore
import TestSupport
import Testing

@testable import Billing

@Suite("Billing's answers and events match openapi.yaml")
struct BillingDescribedTests {
    private let description = Result { try OpenAPI() }
    private let now = Timestamp(microseconds: 1_790_000_000_000_000)

    private func id(_ byte: UInt8) -> BillingID { BillingID(digest: [byte]) }

    private func json(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter(capacity: 512)
        write(&writer)
        return writer.text
    }

    private func names(_ json: String) throws -> Set<String> {
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
        return Set(try #require(object as? [String: Any]).keys)
    }

    /// - Parameter isWhole: whether all optional fields are present.
    private func order(isWhole: Bool) -> String {
        let order = BillingOrder(
            id: id(1), customer: id(2), contract: id(3), externalSubscription: id(4),
            type: isWhole ? .upgrade : .signup,
            state: isWhole ? .completed : .inProgress, createdAt: now, completedAt: isWhole ? now : nil,
            platform: isWhole ? .google : .apple, productID: isWhole ? "month" : nil, isTrial: isWhole)
        return json { BillingJSON.order(order, &$0) }
    }

    private func contract(isWhole: Bool) -> String {
        var state = ContractState([], at: now, leeway: .zero)
        if isWhole {
            state.lifecycle = .inTrial
            state.start = now
            state.end = now
            state.paidUntil = now
            state.lastBilling = now
            state.nextBilling = now
            state.product = "apple:month"
            state.phases = [
                .init(kind: .trial, start: now, product: "apple:month"), .init(kind: .inactive, start: now),
            ]
        }
        let contract = BillingContract(
            id: id(1), customer: id(2), platform: .apple, createdAt: now, externalSubscriptions: [id(3)],
            state: state)
        return json { BillingJSON.contract(contract, &$0) }
    }

    @Test(
        "orders and contracts: every sent field is described, and the required ones are always sent")
    func orders() throws {
        let description = try self.description.get()
        for (schema, whole, bare) in [
            ("BillingOrder", order(isWhole: true), order(isWhole: false)),
            ("BillingContract", contract(isWhole: true), contract(isWhole: false)),
        ] {
            #expect(try description.problems(of: whole, as: schema) == [], "\(schema)")
            #expect(try description.problems(of: bare, as: schema) == [], "\(schema)")
            let fields = description.fields(of: schema)
            let (sent, always) = (try names(whole), try names(bare))
            #expect(fields.all == sent && fields.required == always, "\(schema)")
        }
    }

    @Test("events")
    func events() throws {
        let description = try self.description.get()
        let event = try description.webhook("billingEvent")
        for one in BillingEvent.allCases {
            for order in [nil, "\(id(9))"] {
                let body = one.body(contract: "\(id(1))", customer: "\(id(2))", order: order)
                #expect(try description.problems(of: body, as: event) == [])
            }
        }
    }
}
