import Hummingbird
import Logging
import NIOCore

/// A request's context that also knows its connection, to leave it hanging or cut it off.
struct SimulatorContext: InitializableFromSource, Sendable {
    let connection: Connection

    init(source: ApplicationRequestContextSource) {
        connection = Connection(channel: source.channel)
    }
}
