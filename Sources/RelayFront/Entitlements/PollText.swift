import NIOCore
import RelayCore
import RelayStore

/// A poll's answer as it goes out, without what depends on the request.
struct PollText: Sendable {
    let tag: String
    let body: ByteBuffer
    let length: String

    private init(_ validation: Validation) {
        tag = EntityTag.of(validation)
        body = validation.pollJSON
        length = String(body.readableBytes)
    }

    static func of(_ known: KnownValidation) -> PollText {
        known.told { PollText($0) }
    }
}
