import AppStoreSimulation
import Foundation

/// The control API: what it is told.
extension SimulatedServerAPI {
    mutating func control(_ call: APICall, at now: Date) -> Reply {
        do {
            return try carryOut(call, at: now)
        } catch {
            return error.reply
        }
    }

    private mutating func carryOut(_ call: APICall, at now: Date) throws(ControlFault) -> Reply {
        guard let route = ControlRoute(call.segments) else { throw .notFound("nothing has this address") }
        guard let body = call.body else { throw .tooLarge }
        switch (route, call.method) {
        case (.subscription(let number), "PUT"): return try put(number, body, at: now)
        case (.subscription(let number), "DELETE"):
            guard shelf.forget(number) else { throw .notFound("there is no such subscription") }
        case (.subscription, _): return .notAllowed("PUT", "DELETE")
        case (.notifications, "POST"): return try add(body, call.values("sendAttemptResult").first, at: now)
        case (.notifications, _): return .notAllowed("POST")
        case (.trouble, "PUT"):
            do { trouble = try Trouble(json: body) } catch { throw .invalid(error) }
        case (.trouble, "DELETE"): trouble = nil
        case (.trouble, _): return .notAllowed("PUT", "DELETE")
        case (.requests, "GET"): return try requests(call)
        case (.requests, "DELETE"): log.removeAll()
        case (.requests, _): return .notAllowed("GET", "DELETE")
        }
        return Reply(status: 204)
    }

    private mutating func put(_ number: String, _ body: Data, at now: Date) throws(ControlFault) -> Reply {
        guard SimulatedStanding.isNumber(number) else { throw .invalid("a transaction id has 1 to 32 digits") }
        let standing: SimulatedStanding
        do { standing = try SimulatedStanding(json: body) } catch { throw .invalid(error) }
        let environment = settings.environment
        let transaction = standing.transaction(
            of: number, app: settings.bundleId, environment: environment, at: now)
        let kept = try shelf.put(
            KeptSubscription(
                transaction: transaction, renewal: standing.renewal(of: number, environment: environment),
                status: standing.status.flatMap { SimulatedNotification.Status(rawValue: $0) },
                group: standing.subscriptionGroupIdentifier ?? "21000001",
                transactionIds: (standing.transactionIds ?? []) + [transaction.transactionId]))
        let status = kept.status ?? SimulatedNotification.Status(kept.transaction, kept.renewal, at: now)
        return Reply(
            json: PutAnswer(
                originalTransactionId: number, status: status.rawValue, transactionIds: kept.transactionIds))
    }

    private mutating func add(_ body: Data, _ result: String?, at now: Date) throws(ControlFault) -> Reply {
        guard let result = SendAttempt.Result(rawValue: result ?? SendAttempt.Result.success.rawValue) else {
            let names = SendAttempt.Result.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid("sendAttemptResult is one of \(names)")
        }
        let told: ToldNotification
        do { told = try ToldNotification(body: body) } catch { throw .invalid(error) }
        history.add(told, SendAttempt(attemptDate: now.millisecondsSince1970, sendAttemptResult: result))
        return Reply(
            json: AddAnswer(
                notificationUUID: told.uuid, signedDate: told.signedDate, transactionIds: told.transactionIds))
    }

    private func requests(_ call: APICall) throws(ControlFault) -> Reply {
        guard let after = Int(call.values("after").first ?? "0"), after >= 0,
            let limit = Int(call.values("limit").first ?? "100"), (1...1_000).contains(limit)
        else { throw .invalid("after is a sequence, limit is 1 to 1000") }
        return Reply(json: log.page(after: after, limit: limit))
    }
}

private struct PutAnswer: Encodable {
    let originalTransactionId: String
    let status: Int
    let transactionIds: [String]
}

private struct AddAnswer: Encodable {
    let notificationUUID: String
    let signedDate: Int64
    let transactionIds: [String]
}
