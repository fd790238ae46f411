import Relay

/// The console's sessions.
struct SessionStore: Aggregate { let relay: RelayStore }

extension RelayStore {
    var sessions: SessionStore { SessionStore(relay: self) }
}
