import NIOCore

/// A simulated app: posts a purchase, holds a poll until it is settled, and continues with the next.
struct Purchaser: Sendable {
    static let path = "/apple/payment"

    let client: LoadClient
    let template: PurchaseTemplate
    let wait: Int

    /// - Parameter next: returns the number of the next purchase; nil to stop.
    func run(next: @Sendable () -> Int?) async throws -> [PostedPurchase] {
        var purchases: [PostedPurchase] = []
        var connection = try await client.connect()
        while let number = next() {
            purchases.append(try await pursue(PurchaseTemplate.number(number), &connection))
        }
        await connection.close()
        return purchases
    }

    private func pursue(_ number: String, _ connection: inout LoadConnection) async throws -> PostedPurchase {
        let body = template.body(number)
        let postedAt = microsecondsNow()
        let accepted = try await retrying(&connection) { try await $0.post(Self.path, body: body) }
        guard accepted.status == 202 || accepted.status == 200, let id = accepted.field("validationId").map(String.init)
        else { throw UnexpectedAnswer(doing: "posting", answer: accepted) }
        var purchase = PostedPurchase(
            number: number, validationId: id, status: "pending", postedAt: postedAt, acceptedAt: accepted.at,
            knownAt: accepted.at, polls: 0)
        while purchase.status == "pending" {
            let answer = try await retrying(&connection) { try await $0.poll(id, wait: wait).get() }
            guard answer.status == 200, let status = answer.field("status") else {
                throw UnexpectedAnswer(doing: "polling", answer: answer)
            }
            purchase.status = String(status)
            purchase.knownAt = answer.at
            purchase.polls += 1
        }
        return purchase
    }

    /// A server may close an idle connection. The request is then sent once more on a new one, as an app does.
    private func retrying(
        _ connection: inout LoadConnection, _ call: (LoadConnection) async throws -> Answer
    ) async throws -> Answer {
        if connection.isOpen {
            do {
                return try await call(connection)
            } catch is ConnectionLost {
            } catch is ChannelError {}
        }
        connection = try await client.connect()
        return try await call(connection)
    }
}

/// Outcome of one purchase. Times are microseconds since 1970.
struct PostedPurchase: Encodable, Sendable {
    var number: String
    var validationId: String
    var status: String
    var postedAt: Int64
    var acceptedAt: Int64
    var knownAt: Int64
    var polls: Int
}

/// The relay's answer is not one that a benchmark expects.
struct UnexpectedAnswer: Error, CustomStringConvertible {
    var doing: String
    var answer: Answer

    var description: String { "\(doing): \(answer.status) \(answer.body.prefix(300))" }
}
