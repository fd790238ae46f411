import Hummingbird

/// The control API over HTTP.
struct ControlFront: Sendable {
    let simulator: Simulator

    func respond(to request: Request, segments: [String]) async throws -> Response {
        let body = try await CleengFront.collect(request)
        do {
            guard let route = ControlRoute(segments: segments) else {
                throw ControlFault.notFound("nothing has this address")
            }
            let method = request.method.rawValue
            guard route.methods.contains(method) else {
                let allowed = route.methods.joined(separator: ", ")
                return Response(Self.reply(405, "use \(allowed)").with(header: "Allow", allowed))
            }
            guard let body else { throw ControlFault.tooLarge }
            let call = try ControlCall(
                method: method, route: route, query: QueryItems(request.uri.query), body: body)
            return Response(try simulator.control(call))
        } catch let fault as ControlFault {
            return Response(Self.reply(fault.status, fault.detail))
        }
    }

    private static func reply(_ status: Int, _ message: String) -> Reply {
        Reply(status: status, json: JSONValue.object(["success": .bool(false), "message": .string(message)]))
    }
}
