import Formats
import Relay
import RelayCore

/// Writes answers in billwerk's format: names in Pascal case, dates with seven decimals, inapplicable fields omitted.
enum BillingJSON {
    static func order(_ order: BillingOrder, _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("Id", order.id)
        writer.member("CustomerId", order.customer)
        writer.member("ContractId", order.contract)
        writer.member("ExternalSubscriptionId", order.externalSubscription)
        writer.member("Status", order.state.name)
        writer.member("OrderType", order.type.name)
        writer.date("CreatedAt", order.createdAt)
        writer.date("CompletedAt", order.completedAt)
        writer.member("PlanVariantId", order.productID.map(order.platform.prefixed))
        writer.member("PaymentProvider", order.platform.iapType)
        writer.member("AllowWithoutPaymentData", true)
        for name: StaticString in ["ComponentSubscriptions", "DiscountSubscriptions"] {
            writer.name(name)
            writer.value(json: "[]".utf8)
        }
        // The relay does not know what the store charges.
        for name: StaticString in ["Total", "TotalVat", "TotalGross", "NextTotalGross"] { writer.zero(name) }
        writer.member("IsTrial", order.isTrial)
        writer.member("TrialEndPolicy", "NoTrial")
        writer.member("TriggerInterimBilling", false)
        writer.member("PreviewAfterTrial", false)
        writer.endObject()
    }

    static func contract(_ contract: BillingContract, _ writer: inout JSONWriter) {
        let state = contract.state
        writer.beginObject()
        writer.member("Id", contract.id)
        writer.member("CustomerId", contract.customer)
        writer.member("PlanId", state.product)
        writer.member("PlanVariantId", state.product)
        writer.member("PlanGroupId", contract.platform.iapType)
        writer.member("LifecycleStatus", state.lifecycle.rawValue)
        writer.date("StartDate", state.start ?? contract.createdAt)
        writer.date("EndDate", state.end)
        writer.date("BilledUntil", state.paidUntil)
        writer.date("LastBillingDate", state.lastBilling)
        writer.date("NextBillingDate", state.nextBilling)
        writer.name("Phases")
        writer.beginArray()
        for one in state.phases { phase(one, &writer) }
        writer.endArray()
        if let current = state.phases.last {
            writer.name("CurrentPhase")
            phase(current, &writer)
        }
        writer.zero("Balance")
        writer.member("PaymentProvider", contract.platform.iapType)
        writer.member("EscalationSuspended", false)
        writer.member("RecurringPaymentsPaused", false)
        writer.date("CreatedAt", contract.createdAt)
        writer.name("ExternalSubscriptionIds")
        writer.beginArray()
        for id in contract.externalSubscriptions { writer.value(id.description) }
        writer.endArray()
        writer.endObject()
    }

    private static func phase(_ phase: ContractState.Phase, _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("Type", phase.kind.rawValue)
        writer.date("StartDate", phase.start)
        writer.member("PlanVariantId", phase.product)
        writer.member("PlanId", phase.product)
        writer.endObject()
    }

    static func customer(_ customer: BillingCustomer, _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("Id", customer.id)
        writer.date("CreatedAt", customer.createdAt)
        // ``CustomerDetails`` wrote this object, without space around it.
        let members = customer.details.value.utf8.dropFirst().dropLast()
        if !members.isEmpty { writer.value(json: members) }
        writer.endObject()
    }

    static func subscriptions(_ subscriptions: [CheckedSubscription], _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.name("Subscriptions")
        writer.beginArray()
        for one in subscriptions {
            writer.beginObject()
            writer.member("Id", one.id)
            if let contract = one.contract {
                writer.name("Contract")
                writer.beginObject()
                writer.member("Id", contract.id)
                writer.member("CustomerId", contract.customer)
                writer.endObject()
            }
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }

    static func webhook(_ endpoint: WebhookEndpoint, _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("Id", endpoint.id.description)
        writer.member("Url", endpoint.url)
        writer.name("Events")
        writer.beginArray()
        if case .events(let names) = endpoint.kind { for name in names { writer.value(name) } }
        writer.endArray()
        writer.member("Disabled", !endpoint.isActive)
        writer.date("CreatedAt", endpoint.createdAt)
        writer.endObject()
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: StaticString, _ id: BillingID) { member(name, id.description) }

    fileprivate mutating func date(_ name: StaticString, _ moment: Timestamp?) { member(name, moment?.sevenDecimals) }

    fileprivate mutating func zero(_ name: StaticString) {
        self.name(name)
        value(json: "0.0".utf8)
    }
}
