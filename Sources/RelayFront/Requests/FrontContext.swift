import Hummingbird
import NIOCore

/// What a route knows of its request beside the request itself.
struct FrontContext: RequestContext, Sendable {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    let notes = RequestNotes()

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
