import Formats
import HTTPTypes
import Hummingbird
import RelayCore
import RelayStore

/// `POST /ops/validations/replay`: retries a range, a page at a time.
struct ReplayRoutes: Sendable {
    let store: RelayStore
    let authenticator: Authenticator
    let bodies: BodyReader

    var routes: [Route] { [.post("/ops/validations/replay", replay)] }

    private func replay(_ request: Request, _ context: FrontContext) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        let body = try ReplayBody(try await bodies.read(request))
        let page = try await store.replay(
            body.filter, in: key.opsScope, by: key.actor, reason: body.reason, isDryRun: body.isDryRun)
        var writer = JSONWriter(capacity: 256 + page.refused.count * 96)
        writer.beginObject()
        writer.field("matched", page.matched.count)
        writer.field("replayed", page.replayed.count)
        writer.beginArray("refused")
        for (id, why) in page.refused {
            writer.beginObject()
            writer.field("validationId", id.description)
            writer.field("code", why.code)
            writer.endObject()
        }
        writer.endArray()
        writer.field("nextCursor", page.next?.description)
        writer.endObject()
        return .json(writer, status: body.isDryRun ? .ok : .accepted)
    }
}

extension ReplayPage.Refusal {
    /// As the answer to a single retry would have it.
    fileprivate var code: String {
        switch self {
        case .refused(let refusal): ValidationActionRoutes.problem(refusal).code.rawValue
        case .unreadable: ProblemCode.internalError.rawValue
        }
    }
}
