package import Hummingbird

/// A request's context that also knows its connection, to leave it hanging or cut it off.
package struct SimulatorContext: InitializableFromSource, Sendable {
    package let connection: Connection

    package init(source: ApplicationRequestContextSource) {
        connection = Connection(channel: source.channel)
    }
}
