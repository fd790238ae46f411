import Formats
import Foundation
public import RelayCore

/// The fields that apps receive, and the customer.
extension Validation: Viewed {
    public static let fields: [Field<Validation>] = [
        Field("validationId", "Validation") { $0.id },
        Field("status", "Status") { $0.status.name }.worded {
            $0.status.name + ($0.late ? " (late)" : "")
        },
        Field("accessGranted", "Access granted") { $0.status.accessGranted },
        Field("offerId", "Offer") { $0.offerID },
        Field("reason", "Reason") { $0.reason },
        Field("receivedAt", "Accepted") { $0.acceptedAt },
        Field("settledAt", "Settled") { $0.settledAt },
        Field("deadline", "Deadline") { $0.deadline },
        Field("late", "Late") { $0.late },
        Field("expiresAt", "Expires") { $0.expiresAt },
        Field("customerEmail", "Customer") { $0.email },
    ]
}

extension Parking: Viewed {
    public static let fields: [Field<Parking>] = [
        Field("since") { $0.since }, Field("reason") { $0.reason },
    ]
}

extension ListedValidation: Viewed {
    public static let fields = Validation.fields.map { $0.of(\.validation) } + listFields

    private static let listFields: [Field<ListedValidation>] = [
        Field("publisher", "Publisher") { $0.validation.publisher },
        Field("app", "App") { $0.validation.app },
        Field("parked", "Reason") { $0.parking.map { FieldValue.object($0) } }.worded { one in
            one.parking.map { "parked since \($0.since.rfc3339): \($0.reason)" } ?? one.validation.reason
        },
    ]
}

extension Verification: Viewed {
    public static let fields: [Field<Verification>] = [
        Field("result") { $0.result.name }, Field("code") { $0.code }, Field("detail") { $0.detail },
    ]

    /// The result as text for people.
    var line: String {
        let result = result.name.replacing("_", with: " ")
        guard let code, let detail else { return result }
        return "\(result) (\(code)): \(detail)"
    }
}

extension ValidationDetail.Transfer: Viewed {
    public static let fields: [Field<ValidationDetail.Transfer>] = [
        Field("from") { $0.from }, Field("to") { $0.to },
        Field("fromValidationId") { $0.fromValidation },
        Field("toValidationId") { $0.toValidation }, Field("at") { $0.at },
    ]
}

extension ValidationDetail.Entry: Viewed {
    public static let fields: [Field<ValidationDetail.Entry>] = [
        Field("at", "At") { $0.event.at },
        Field("event", "Event") { $0.event.kind.name },
        Field("upstreamStatus", "HTTP") { $0.event.upstreamStatus },
        Field("latencyMs", "ms") { $0.event.latency.map { Int($0.microseconds / 1_000) } },
        Field("instance", "Copy") { $0.instance.isEmpty ? nil : $0.instance },
        Field("detail", "Detail") { $0.event.detail },
    ]
}

extension ValidationDetail: Viewed {
    public static let fields =
        Validation.fields.map { $0.of(\.validation) } + purchaseFields + pursuitFields

    private static let purchaseFields: [Field<ValidationDetail>] = [
        Field("publisher", "Publisher") { $0.validation.publisher },
        Field("app", "App") { $0.validation.app },
        Field("appType", "App type") { $0.appType },
        Field("couponCode", "Coupon") { $0.couponCode },
        Field("transactionId", "Transaction") { $0.transactionID },
        Field("originalTransactionId", "Subscription") { $0.originalTransactionID },
        Field("environment", "Environment") { $0.environment },
        Field("productId", "Product") { $0.productID },
        Field("bundleId", "Bundle") { $0.bundleID },
        Field("applicationUsername", "Application username") { $0.applicationUsername },
        Field("receiptReadable", "Receipt") { $0.isReceiptReadable }.worded {
            $0.isReceiptReadable ? "readable" : "not readable: Cleeng decides"
        },
        Field("verification", "Verification") { FieldValue.object($0.verification) }.worded {
            $0.verification.line
        },
        Field("driver", "To Cleeng") { $0.driver.name }.worded {
            let customer = $0.cleengCustomer ?? 0
            return switch $0.driver.connector {
            case .storekit2: "by StoreKit 2, for customer \(customer)"
            case .google: "by the Google Play connector, for customer \(customer)"
            case nil: nil
            }
        },
    ]

    private static let pursuitFields: [Field<ValidationDetail>] = [
        Field("cleengCustomerId") { $0.cleengCustomer.map { Int($0) } },
        Field("entitledBefore", "Entitled before") { $0.entitledBefore },
        Field("attempts", "Attempts") { $0.attempts },
        // Embedded as JSON if it is valid JSON, otherwise as a text.
        Field("evidence", "Evidence") { one in
            one.evidence.map { $0.isJSON ? FieldValue.json($0) : FieldValue.text($0) }
        },
        Field("nextStepAt", "Next step") { $0.nextStepAt },
        Field("leaseOwner") { $0.leaseOwner },
        Field("parked", "Parked") { $0.parking.map { FieldValue.object($0) } }.worded {
            $0.parking.map { "since \($0.since.rfc3339): \($0.reason)" }
        },
        Field("transfer", "Transfer") { $0.transfer.map { FieldValue.object($0) } }.worded {
            $0.transfer.map { "from \($0.from) to \($0.to) at \($0.at.rfc3339)" }
        },
        Field("traceId", "Trace") { $0.traceID },
        Field("timeline") { FieldValue.list($0.timeline) },
    ]
}

extension Field {
    /// The same field, for a type that contains the item.
    func of<Whole: Sendable>(_ part: any KeyPath<Whole, Item> & Sendable) -> Field<Whole> {
        Field<Whole>(name, label) { self.value($0[keyPath: part]) }.worded {
            self.text($0[keyPath: part])
        }
    }
}

extension String {
    fileprivate var isJSON: Bool {
        (try? JSONSerialization.jsonObject(with: Data(utf8), options: .fragmentsAllowed)) != nil
    }
}
