import Cleeng
import Logging
import Metrics
import Postgres
import RelayCore
import Tracing

/// Runs the next steps of a claimed pursuit: passes events to the state machine and executes its decisions.
struct PursuitWorker: Sendable {
    let store: RelayStore
    let upstream: Upstream
    let writer: PursuitWriter
    let reader: EntitlementReader
    let taken: TakenInquiry
    let leases: PursuitLeases
    let settings: PursuitSettings
    let logger: Logger

    private static let settlements = KeptMetrics<ValidationStatus, Counter> {
        Counter(label: "relay_settlements", dimensions: [("status", $0.name)])
    }
    private static let timesToSettle = KeptMetrics<ValidationStatus, Timer> {
        Timer(label: "relay_time_to_settle", dimensions: [("status", $0.name)])
    }

    /// Events and changes that are written together at the end.
    private struct Notes {
        var events: [TimelineEvent] = []
        var change: Decision.Change?

        mutating func take(_ decision: Decision) {
            events += decision.events
            if let change = decision.change { self.change = change }
        }
    }

    /// - Parameter probe: permission for one call on a shut route, if the pursuit was claimed for a probe.
    func run(_ claimed: ClaimedPursuit, probe: CallGate.Pass? = nil) async {
        await step("pursue", claimed) { try await pursue(claimed, probe) }
    }

    /// Applies the result of another pursuit's read.
    private func answered(_ claimed: ClaimedPursuit, _ answer: EntitlementAnswer) async {
        defer { leases.with { $0.drop(claimed.lease) } }
        await step("read with another", claimed) {
            var pursuit = claimed.pursuit
            let decision = pursuit.entitlementRead(answer, at: try now(), reads: settings.reads)
            try await conclude(claimed, pursuit, before: claimed.pursuit, Notes(), decision)
        }
    }

    /// Applies an event of Cleeng's about this pursuit.
    func apply(_ claimed: ClaimedPursuit, _ statement: UpstreamStatement) async {
        defer { leases.with { $0.drop(claimed.lease) } }
        await step("told by cleeng", claimed) {
            var pursuit = claimed.pursuit
            let decision = pursuit.apply(statement, at: try now())
            try await conclude(claimed, pursuit, before: claimed.pursuit, Notes(), decision)
        }
    }

    /// Runs work as a span of the purchase's trace, if it has one.
    private func step(_ name: String, _ claimed: ClaimedPursuit, _ work: () async throws -> Void) async {
        await traced(
            name, claimed.trace,
            [
                "relay.validation_id": "\(claimed.id)", "relay.phase": "\(claimed.pursuit.phase)",
                "relay.fence": .int64(Int64(claimed.fence)),
            ]
        ) {
            do {
                try await work()
            } catch {
                await interrupted(claimed, by: error)
            }
        }
    }

    /// Parks a pursuit at once if its own data caused the error. After any other error it is claimed again when the
    /// lease expires. If that fails repeatedly, a later claim parks it with the error noted here.
    private func interrupted(_ claimed: ClaimedPursuit, by error: any Error) async {
        // The lease was lost, or the process is stopping: nothing is written.
        guard !(error is CancellationError), !Task.isCancelled else { return }
        if error.isForGood {
            await setAside(claimed, error)
            return
        }
        logger.warning(
            "a pursuit was interrupted: it is claimed again when its lease expires", metadata: describe(claimed, error)
        )
        if (error as? PostgresError)?.isPassing != true {
            try? await store.purchases.note(trouble: "\(error)", of: claimed)
        }
    }

    private func setAside(_ claimed: ClaimedPursuit, _ error: any Error) async {
        logger.error("a pursuit cannot be processed", metadata: describe(claimed, error))
        do {
            try await store.purchases.park(claimed, why: "\(error)")
        } catch {
            logger.warning("it could not be parked: it is claimed again later", metadata: describe(claimed, error))
        }
    }

    private func pursue(_ claimed: ClaimedPursuit, _ probe: CallGate.Pass?) async throws {
        var pursuit = claimed.pursuit
        var notes = Notes()
        var decision: Decision
        if claimed.isOvertaken {
            decision = pursuit.overtaken(at: try now())
        } else {
            decision = pursuit.woken(at: try now(), reads: settings.reads)
        }
        while true {
            notes.take(decision)
            switch decision.next {
            case .rest, .finished:
                try await write(claimed, pursuit, notes, decision.next)
                return
            case .forward where !claimed.isSending:
                // It became due after the claim, which gave no right to send. The next claim gives it.
                try await write(claimed, pursuit, notes, .rest(until: try now()))
                return
            case .forward:
                decision = try await forward(claimed, &pursuit, &notes, probe)
            case .read where pursuit.phase.isSynchronizing:
                let before = pursuit
                guard let next = try await follow(claimed, &pursuit, probe) else {
                    decision = try putBack(pursuit)
                    continue
                }
                // The synchronization's answer may require an entitlement read now.
                guard next.next == .read else {
                    return try await conclude(claimed, pursuit, before: before, notes, next)
                }
                decision = next
            case .read:
                let before = pursuit
                switch try await reader.read(for: claimed, probe: probe) {
                case .answered(let answer, let siblings):
                    for (sibling, answer) in siblings { Task { await answered(sibling, answer) } }
                    try Task.checkCancellation()
                    decision = pursuit.entitlementRead(answer, at: try now(), reads: settings.reads)
                    return try await conclude(claimed, pursuit, before: before, notes, decision)
                case .postponed(let moment):
                    decision = pursuit.readPostponed(to: moment, at: try now())
                case .shut:
                    decision = try putBack(pursuit)
                }
            }
        }
    }

    private func forward(
        _ claimed: ClaimedPursuit, _ pursuit: inout Pursuit, _ notes: inout Notes, _ probe: CallGate.Pass?
    ) async throws -> Decision {
        if claimed.keepsOwner, let decision = try await keepOwner(claimed, &pursuit) { return decision }
        // After a forward, recorded or not, an entitlement may be its result. There is no read before a probe, since
        // other pursuits wait for the probe's result.
        if pursuit.entitledBefore == nil, pursuit.forwards == 0, !pursuit.transfers, probe == nil,
            let answer = await reader.baseline(for: claimed, within: settings.baselineTimeout)
        {
            notes.events.append(pursuit.baselineRead(answer, at: try now()))
        }
        let route = pursuit.phase.route ?? .payments
        guard let pass = await upstream.enter(route, with: probe) else { return try putBack(pursuit) }
        defer { upstream.leave(pass) }
        try Task.checkCancellation()
        let purchase = try await store.purchases.purchase(
            of: claimed, by: pursuit.phase.connector?.driver ?? .receipt)
        try Task.checkCancellation()
        if let number = purchase.proof.cleengCustomer,
            let decision = try await checkNumber(number, claimed, &pursuit, pass)
        {
            return decision
        }
        if claimed.overtakes { try await supersedeOlder(than: claimed) }
        try Task.checkCancellation()
        guard leases.with({ $0.covers(claimed.lease) }) else { throw CancellationError() }
        let answer: ForwardAnswer
        switch purchase.proof {
        case .receipt(let receipt): answer = await upstream.forward(purchase, receipt, pass)
        case .store(let receipt): answer = await upstream.forward(purchase, receipt, pass)
        case .transaction(let cleengCustomer):
            answer = await register(
                claimed, pursuit, purchase, .storekit2(purchase.transactionID), cleengCustomer, pass)
        case .google(let query, let cleengCustomer):
            answer = await register(claimed, pursuit, purchase, .google(query), cleengCustomer, pass)
        }
        try Task.checkCancellation()
        let isAnothers =
            answer.verdict == .duplicate
            ? try await store.subscriptions.isHeldByAnother(claimed, synchronization: answer.synchronization) : false
        return pursuit.forwardAnswered(
            answer, isAnothers: isAnothers, at: try now(), retries: settings.retries, jitter: Double.random(in: 0..<1))
    }

    private func register(
        _ claimed: ClaimedPursuit, _ pursuit: Pursuit, _ purchase: StoredPurchase, _ proof: ConnectorPurchase.Proof,
        _ cleengCustomer: Int64, _ pass: CallGate.Pass
    ) async -> ForwardAnswer {
        await upstream.register(
            purchase, proof, of: cleengCustomer, transfers: pursuit.transfers,
            name: claimed.id.uuid(ofClaim: claimed.fence), pass)
    }

    /// Asks Cleeng for the state of a purchase that it accepted through a connector.
    ///
    /// - Returns: nil if no call is allowed now.
    private func follow(
        _ claimed: ClaimedPursuit, _ pursuit: inout Pursuit, _ probe: CallGate.Pass?
    ) async throws -> Decision? {
        guard let name = pursuit.synchronization, let connector = pursuit.phase.connector,
            let pass = await upstream.enter(pursuit.phase.route ?? .synchronizations, with: probe)
        else { return nil }
        let answer = await upstream.synchronization(
            name, of: connector, for: claimed.email, offer: claimed.offerID, pass)
        try Task.checkCancellation()
        return pursuit.synchronizationRead(
            answer, at: try now(), reads: settings.reads, retries: settings.retries, jitter: .random(in: 0..<1))
    }

    /// Releases a pursuit whose route is shut. Nothing was sent, so its due time and its place in the order stay the
    /// same.
    ///
    /// - Throws: an error if this work was cancelled instead.
    private func putBack(_ pursuit: Pursuit) throws -> Decision {
        try Task.checkCancellation()
        let route = pursuit.phase.route?.rawValue ?? ""
        Counter(label: "relay_pursuits_held_back", dimensions: upstream.labels(route)).increment()
        let due = pursuit.phase.isUnsent ? pursuit.retryAt : pursuit.readAt ?? pursuit.watchedSince
        return Decision(next: .rest(until: due ?? pursuit.acceptedAt))
    }

    /// Ends the older requests that a request overtakes, before it is sent. They must never be sent after it.
    private func supersedeOlder(than claimed: ClaimedPursuit) async throws {
        for older in try await store.purchases.claimOvertaken(by: claimed, lease: settings.lease) {
            var pursuit = older.pursuit
            let decision = pursuit.overtaken(at: try now())
            var notes = Notes()
            notes.take(decision)
            try await write(older, pursuit, notes, decision.next)
        }
    }

    /// Writes the result of a read. A grant may be too late for the subscription: then it is not written, and the
    /// entitlement is read again.
    private func conclude(
        _ claimed: ClaimedPursuit, _ pursuit: Pursuit, before: Pursuit, _ notes: Notes, _ decision: Decision
    ) async throws {
        var all = notes
        all.take(decision)
        var outcome = try await write(claimed, pursuit, all, decision.next)
        // The question about the owner may have waited, but the next read is due an interval after this one.
        var readAgainAt = try (all.change?.observedAt ?? now()) + settings.reads.interval
        if case .ownerInDoubt(let owner) = outcome, let grant = all.change {
            switch try await reader.read(owner, within: try timeToAsk(for: pursuit, grant)) {
            case .answered(let answer):
                outcome = try await write(claimed, pursuit, all, decision.next, ownerReading: answer)
            case .notBefore(let moment):
                let next = settings.reads.nextRead(
                    afterDoubtIn: grant, watchedSince: pursuit.watchedSince, deadline: pursuit.deadline)
                if let next {
                    readAgainAt = max(moment ?? next, next)
                } else {
                    // The owner counts as entitled: the owner keeps the subscription, and this customer, whom Cleeng
                    // entitles, gets access of their own.
                    outcome = try await write(
                        claimed, pursuit, all, decision.next,
                        ownerReading: .init(isEntitled: true, observedAt: try now()))
                }
            }
        }
        guard !outcome.isWritten, outcome != .leaseLost else { return }
        var pursuit = before
        let again = pursuit.grantOutdated(at: try now(), readAgainAt: readAgainAt)
        var notes = notes
        // Cleeng's answer stays in the timeline, although it had no effect.
        notes.events += decision.events.filter { $0.kind == .entitlementRead }
        notes.take(again)
        try await write(claimed, pursuit, notes, again.next)
    }

    /// Time in which an answer about the owner decides what the waiting app reads; nil if no app waits.
    private func timeToAsk(for pursuit: Pursuit, _ grant: Decision.Change) throws -> Duration? {
        guard !grant.late else { return nil }
        return settings.reads.lastAnswer(before: pursuit.deadline) - (try now())
    }

    /// The progress of the reads up to the one behind a grant.
    private func progress(_ pursuit: Pursuit, _ notes: Notes) throws -> OwnershipClaim.ReadProgress {
        guard let change = notes.change else { return .init() }
        return settings.reads.progress(
            of: change, watchedSince: pursuit.watchedSince, deadline: pursuit.deadline, at: try now())
    }

    /// Writes a result, and retries while the database is unavailable or slow. The fence makes a late or repeated write
    /// ineffective. A pursuit is parked only if the database rejects its content.
    @discardableResult
    private func write(
        _ claimed: ClaimedPursuit, _ pursuit: Pursuit, _ notes: Notes, _ next: Decision.Next,
        ownerReading: OwnershipClaim.OwnerReading? = nil
    ) async throws -> PursuitWriteOutcome {
        let rest: PursuitWrite.Next =
            switch next {
            case .rest(let moment): .rest(until: moment)
            case .finished: .finished
            case .forward, .read: .rest(until: try now())
            }
        let write = PursuitWrite(
            claimed: claimed, pursuit: pursuit, change: notes.change, events: notes.events, next: rest,
            ownerReading: ownerReading, progress: try progress(pursuit, notes))
        while true {
            do {
                let outcome = try await writer.write(write)
                report(claimed, notes.change, outcome)
                return outcome
            } catch let error as PostgresError where error.isPassing {
                try await Task.sleep(for: .milliseconds(200))
            } catch  where error.isForGood {
                await setAside(claimed, error)
                return .leaseLost
            }
        }
    }

    func now() throws -> Timestamp {
        guard let now = store.memory.clock.now else { throw CancellationError() }
        return now
    }

    private func report(_ claimed: ClaimedPursuit, _ change: Decision.Change?, _ outcome: PursuitWriteOutcome) {
        if outcome == .leaseLost { Counter(label: "relay_writes_fenced_off").increment() }
        guard outcome.isWritten, var change else { return }
        if case .writtenRevoked(let reason) = outcome { (change.status, change.reason) = (.revoked, reason) }
        Self.settlements[change.status].increment()
        Self.timesToSettle[change.status].record(duration: change.at - claimed.pursuit.acceptedAt)
        logger.info(
            "validation settled",
            metadata: [
                "validation_id": "\(claimed.id)", "status": "\(change.status.name)", "reason": "\(change.reason ?? "")",
                "late": .stringConvertible(change.late),
            ])
    }

    private func describe(_ claimed: ClaimedPursuit, _ error: any Error) -> Logger.Metadata {
        ["validation_id": "\(claimed.id)", "error": "\(error)"]
    }
}

extension PostgresError {
    /// Whether the same statement may succeed on a retry.
    fileprivate var isPassing: Bool {
        isTransient || ![.server, .decoding, .invalidQuery].contains(code)
    }
}
