import Formats
import HTTPTypes
import Hummingbird
import RelayCore
import RelayStore

/// `POST /ops/validations/{id}/retry` and `…/abandon`: what an operator may do about one.
struct ValidationActionRoutes: Sendable {
    let store: RelayStore
    let authenticator: Authenticator
    let bodies: BodyReader

    var routes: [Route] {
        [
            .post("/ops/validations/:id/retry") { request, context in
                try await act(request, context) { try await store.retry($0, in: $1.opsScope, by: $1.actor, reason: $2) }
            },
            .post("/ops/validations/:id/abandon") { request, context in
                try await act(request, context) {
                    try await store.abandon($0, in: $1.opsScope, by: $1.actor, reason: $2)
                }
            },
        ]
    }

    private func act(
        _ request: Request, _ context: FrontContext,
        _ action: (ValidationID, _ by: APIKey, _ reason: String) async throws -> Void
    ) async throws -> Response {
        let key = try await authenticator.key(request, context, opening: .opsOperator)
        let reason = try OperatorReason.parse(try await bodies.read(request))
        guard let id = context.parameters.get("id").flatMap({ ValidationID($0) }) else { throw Self.unknown }
        context.notes.validation = id
        do {
            try await action(id, key, reason)
        } catch let refusal as OpsRefusal {
            throw Self.problem(refusal)
        }
        var writer = JSONWriter(capacity: 384)
        writer.beginObject()
        if let validation = try await store.validation(id, in: key.opsScope) {
            writer.poll(validation)
            writer.field("customerEmail", validation.email)
        } else {
            // Abandoned was a pursuit whose validation was gone before.
            writer.field("validationId", id.description)
        }
        writer.endObject()
        return .json(writer, status: .accepted)
    }

    private static var unknown: Problem { Problem(.unknownValidation, "nothing is known by this id") }

    static func problem(_ refusal: OpsRefusal) -> Problem {
        switch refusal {
        case .unknown: unknown
        case .status(let status): Problem(.stateNotAllowed, "it is \(status.name)")
        case .superseded: Problem(.superseded, "sending this one would move the subscription back to its earlier owner")
        case .busy: Problem(.busy, "it is being sent, or revived by another operator, this very moment")
        case .receiptGone: Problem(.receiptGone, "there is nothing left to send")
        }
    }
}
