public import RelayCore

extension Act<Void> {
    /// Sends a purchase to Cleeng again.
    public static func retry(_ id: ValidationID) -> Self {
        Act(.validationRetried) { store, actor, reason in
            let owner = try await store.ops.retry(id, in: actor.scope, by: actor.name, reason: reason ?? "")
            return ((), Record("\(id)", of: owner))
        }
    }

    /// Ends a purchase as rejected, permanently.
    public static func abandon(_ id: ValidationID) -> Self {
        Act(.validationAbandoned) { store, actor, reason in
            let owner = try await store.ops.abandon(id, in: actor.scope, by: actor.name, reason: reason ?? "")
            return ((), Record("\(id)", of: owner))
        }
    }
}

extension LongAct<ReplayPage> {
    /// Retries one page of a filter's matches, oldest first.
    ///
    /// - Parameter isDryRun: only finds the matches.
    public static func replay(_ filter: ReplayFilter, isDryRun: Bool = false) -> Self {
        LongAct(.validationsReplayed) { work in
            let found = try await work.store.ops.replayTargets(filter, in: work.actor.scope)
            guard !isDryRun, let first = found.matched.first, let last = found.matched.last else { return found }
            let target = found.matched.count == 1 ? "\(first)" : "\(first) to \(last)"
            return try await work.recorded(target, of: work.actor.scope.publisher) {
                let page = try await work.store.ops.replay(
                    found, in: work.actor.scope, by: work.actor.name, reason: work.reason ?? "")
                return (page, "\(page.replayed.count) sent again, \(page.refused.count) not")
            }
        }
    }
}
