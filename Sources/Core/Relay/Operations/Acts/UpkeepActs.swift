import RelayCore

extension LongAct<Void> {
    /// Deletes data whose retention period is over.
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
    /// Encrypts an existing database, or decrypts it. An interrupted run is continued by another one; the audit row is
    /// written when all is done. The outcome is the number of changed rows.
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
    /// Wraps the data keys with the first configured key. The outcome is the number of keys that were wrapped again.
    ///
    /// - Parameter addsKey: also creates a data key.
    public static func rotateKeys(addsKey: Bool) -> Self {
        Act(.keysRotated) { store, _, _ in
            let count = try await store.encryption.rotateKeys(addsKey: addsKey)
            return (count, Record("\(count) data keys wrapped anew\(addsKey ? ", one made" : "")", of: nil))
        }
    }
}
