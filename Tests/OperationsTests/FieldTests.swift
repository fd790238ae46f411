import Formats
import Relay
import RelayCore
import Testing

@Suite("What operators see")
struct FieldTests {
    private func names<Item: Viewed>(_ type: Item.Type) -> [String] { Item.fields.map(\.name) }

    @Test("each field is there once")
    func once() {
        for names in [
            names(ValidationDetail.self), names(ListedValidation.self), names(OpsSubscription.self),
            names(OpsNotification.self), names(OpsEvent.self), names(OpsDelivery.self), names(WebhookEndpoint.self),
            names(OpsTransfer.self), names(AuditRecord.self), names(APIKey.self), names(Publisher.self),
            names(RunningCopy.self), names(PublishersOffer.self), names(UnmappedOffer.self), names(OpsSummary.self),
        ] {
            #expect(!names.isEmpty && Set(names).count == names.count, "\(names)")
        }
    }

    @Test("JSON has every field, null if absent; a table has those that it names")
    func validation() throws {
        var one = Validation(
            id: ValidationID(bucket: Bucket(number: 1), day: 2, high: 3, low: 4), publisher: "main", app: "",
            email: "Ana@example.test", customer: "ana@example.test", offerID: "S1", status: .granted, late: true,
            acceptedAt: Timestamp(seconds: 1_800_000_000), deadline: Timestamp(seconds: 1_800_000_060))
        var writer = JSONWriter()
        writer.page([one], next: nil)
        #expect(
            writer.text
                == #"{"items":[{"validationId":"\#(one.id)","status":"granted","accessGranted":true,"offerId":"S1","reason":null,"#
                + #""receivedAt":"2027-01-15T08:00:00.000Z","settledAt":null,"deadline":"2027-01-15T08:01:00.000Z","#
                + #""late":true,"expiresAt":null,"customerEmail":"Ana@example.test"}],"nextCursor":null}"#)
        let columns = Validation.columns("status", "customerEmail", "settledAt")
        #expect(columns.map(\.label) == ["Status", "Customer", "Settled"])
        #expect(columns.map { $0.text(one) } == ["granted (late)", "Ana@example.test", nil])
        one.settledAt = one.deadline
        #expect(columns[2].text(one) { _ in "then" } == "then")
    }
}
