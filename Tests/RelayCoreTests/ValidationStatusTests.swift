import Testing

@testable import RelayCore

struct ValidationStatusTests {
    @Test(
        arguments: [
            (.pending, 0, "pending"), (.granted, 1, "granted"), (.rejected, 2, "rejected"), (.timedOut, 3, "timed_out"),
            (.transferred, 4, "transferred"), (.revoked, 5, "revoked"),
        ] as [(ValidationStatus, Int16, String)])
    func theStoredNumbersAndTheContractsNamesNeverChange(status: ValidationStatus, number: Int16, name: String) {
        #expect(status.rawValue == number)
        #expect(status.name == name)
        #expect(ValidationStatus(name: name) == status)
        #expect(ValidationStatus(rawValue: number) == status)
    }

    @Test func thereIsNoOther() {
        #expect(ValidationStatus.allCases.count == 6)
        for name in ["", "Pending", "timedOut", "timed-out", "unknown", "granted "] {
            #expect(ValidationStatus(name: name) == nil)
        }
    }

    private func those(_ holds: (ValidationStatus) -> Bool) -> Set<ValidationStatus> {
        Set(ValidationStatus.allCases.filter(holds))
    }

    @Test func onlyAGrantGivesAccess() {
        #expect(those(\.accessGranted) == [.granted])
    }

    @Test func onlyPendingIsPolledOn() {
        #expect(those { !$0.isFinalForPolling } == [.pending])
    }

    @Test func anOperatorRetriesAndAbandonsOnlyWhatIsNotGranted() {
        #expect(those(\.allowsRetry) == [.pending, .timedOut, .rejected])
        #expect(those(\.allowsAbandon) == [.pending, .timedOut])
    }
}
