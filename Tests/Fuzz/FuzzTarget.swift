import RelayCore

/// One way in for bytes that others wrote. Whatever they are, ``run`` returns: a trap or a hang is a find, and so is what it
/// throws.
struct FuzzTarget: Sendable {
    /// As `scripts/fuzz --target` takes it.
    let name: String
    /// Good ones, to begin from.
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

    /// The one list that both libFuzzer and the quick test work through.
    static let all = [
        apple, ocsp, notifications, cleengEvents, cleengEntitlements, cleengPayments, cleengRPC, google, amazon, roku,
        storeSignals, amazonSignals, rokuSignals, appStoreServer, webhookAnswers, headers, queries, bodies,
        customerTokens, ledgers,
    ]
}

/// What must never come out of a reader.
struct FuzzFinding: Error {
    var what: String

    /// Does with a date what the program does with one.
    static func check(_ moment: Timestamp?) throws {
        guard let moment else { return }
        guard Timestamp.datable.contains(moment) else { throw FuzzFinding(what: "a date of \(moment.microseconds)") }
        for moment in [moment, moment + .seconds(86_400), moment - .seconds(86_400)] {
            _ = (moment.rfc3339, moment.sevenDecimals, moment.wholeSeconds, moment.daysSince1970)
        }
    }

    /// - Parameter longest: what a caller may be made to wait for.
    static func check(_ pause: Duration?, atMost longest: Duration) throws {
        guard let pause else { return }
        guard pause >= .zero, pause <= longest else { throw FuzzFinding(what: "a pause of \(pause)") }
    }
}

/// What goes on with a statement about a subscription: into the ledger, and what is told of it.
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
        _ = ledger.standing(at: now, leeway: .seconds(3_600))
        let purchases = ledger.purchases(of: name, shown: nil, at: now, leeway: .seconds(3_600))
        _ = PurchaseJSON.customer("ana", purchases)
    }
}
