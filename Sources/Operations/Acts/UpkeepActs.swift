import RelayCore
public import RelayStore

extension LongAct<Void> {
    /// Removes what is older than it is to be kept.
    ///
    /// - Parameter report: receives each step as it is done.
    public static func retain(
        _ pass: RetentionPass, report: @escaping @Sendable (RetentionPass.Step) -> Void
    ) -> Self {
        LongAct(.retentionRun) { work in
            try await work.recorded("days: \(pass.policy.days.map(String.init) ?? "for ever")", of: nil) {
                _ = try await pass.run(isDryRun: false, report: report)
                return ((), "done")
            }
        }
    }
}

extension LongAct<Int> {
    /// Seals a database that is there already, or opens one again. Broken off, it is run again; the row is written when all is done. The
    /// outcome is how many rows were changed.
    public static func convert(
        _ direction: EncryptionRun.Direction, report: @escaping @Sendable (EncryptionRun.Progress) -> Void
    ) -> Self {
        LongAct(direction == .seal ? .encryptionEnabled : .encryptionDisabled) { work in
            let rows = try await EncryptionRun(store: work.store, direction: direction).run(report)
            try await work.store.audit.add(
                Record("\(rows) rows", of: nil).entry(work.action, by: work.actor, reason: work.reason))
            return rows
        }
    }
}

extension Act<Int> {
    /// Wraps the data keys by the first of the configured keys. The outcome is how many were wrapped anew.
    ///
    /// - Parameter addsKey: also makes a new data key.
    public static func rotateKeys(addsKey: Bool) -> Self {
        Act(.keysRotated) { store, _, _ in
            let count = try await store.encryption.rotateKeys(addsKey: addsKey)
            return (count, Record("\(count) data keys wrapped anew\(addsKey ? ", one made" : "")", of: nil))
        }
    }
}
