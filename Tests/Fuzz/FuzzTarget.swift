import RelayCore

/// A reader of bytes from outside. ``run`` must return for any input: a trap, a hang or a thrown error is a finding.
struct FuzzTarget: Sendable {
    /// Name for `scripts/fuzz --target`.
    let name: String
    /// Valid inputs to start from.
    let seeds: @Sendable () -> [[UInt8]]
    let run: @Sendable ([UInt8]) async throws -> Void

    init(
        _ name: String, seeds: @autoclosure @escaping @Sendable () -> [[UInt8]],
        run: @escaping @Sendable ([UInt8]) async throws -> Void
    ) {
        self.name = name
        self.seeds = seeds
        self.run = run
    }

    /// The list for both libFuzzer and the quick test.
    static let all = [
        apple, ocsp, notifications, cleengEvents, cleengEntitlements, cleengPayments, cleengRPC, google, amazon, roku,
        storeSignals, amazonSignals, rokuSignals, appStoreServer, webhookAnswers, headers, queries, bodies,
        customerTokens, ledgers,
    ]
}

/// A result that no reader may return.
struct FuzzFinding: Error {
    var what: String

    /// Uses a date in the same ways as the program.
    static func check(_ moment: Timestamp?) throws {
        guard let moment else { return }
        guard Timestamp.datable.contains(moment) else { throw FuzzFinding(what: "a date of \(moment.microseconds)") }
        for moment in [moment, moment + .seconds(86_400), moment - .seconds(86_400)] {
            _ = (moment.rfc3339, moment.sevenDecimals, moment.wholeSeconds, moment.daysSince1970)
        }
    }

    /// - Parameter longest: longest pause that a caller may receive.
    static func check(_ pause: Duration?, atMost longest: Duration) throws {
        guard let pause else { return }
        guard pause >= .zero, pause <= longest else { throw FuzzFinding(what: "a pause of \(pause)") }
    }
}

/// Processes a statement about a subscription: applies it to a ledger and serializes the results.
enum FuzzLedger {
    static let now = Timestamp(seconds: 1_795_168_800)

    static func apply(_ word: LedgerStatement?) {
        guard let word else { return }
        var ledger = SubscriptionLedger()
        ledger.apply(word)
        tell(ledger)
    }

    static func tell(_ ledger: SubscriptionLedger) {
        let name = SubscriptionName(publisher: "main", environment: "Production", originalTransactionID: "1")
        _ = ledger.state(at: now, leeway: .seconds(3_600))
        let purchases = ledger.purchases(of: name, shown: nil, at: now, leeway: .seconds(3_600))
        _ = PurchaseJSON.customer("ana", purchases)
    }
}
