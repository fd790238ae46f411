import Foundation
import Hummingbird
import NIOCore
import Testing

@testable import RelayFront

@Suite("Problems")
struct ProblemTests {
    private struct Read: Decodable {
        struct Field: Decodable { var field, code, detail: String }
        var type, title, detail, code: String
        var status: Int
        var errors: [Field]?
    }

    /// Those of the core.
    static let codes: [ProblemCode] = [
        .badRequest, .notJSON, .invalidIdempotencyKey, .missingKey, .badSignature, .unknownKey,
        .customerTokenRequired, .invalidCustomerToken, .wrongRole, .anotherCustomer, .notFound, .unknownValidation,
        .unknownNotification, .unknownDelivery, .unknownEvent, .unknownSubscription, .endpointNotActive,
        .methodNotAllowed, .requestTimeout, .stateNotAllowed, .superseded, .busy, .receiptGone, .bodyTooLarge,
        .unsupportedMediaType, .invalidFields, .idempotencyKeyReused, .ownedByAnother, .receiptNotGenuine,
        .notANotification, .notificationNotGenuine, .headersTooLarge, .internalError, .databaseUnavailable,
        .overloaded, .customerKeysUnavailable, .storeUnavailable, .formNotOurs, .rateLimited,
    ]

    @Test("each has RFC 9457's members and its own code", arguments: codes)
    func members(_ code: ProblemCode) throws {
        let problem = Problem(code, "a detail", errors: [FieldError("a.b", .required, "is required")])
        let read = try JSONDecoder().decode(Read.self, from: Data(problem.body.readableBytesView))
        #expect(read.type == "urn:receipt-relay:problem:\(code.rawValue)")
        #expect(read.code == code.rawValue && read.status == code.status.code && read.detail == "a detail")
        #expect(!read.title.isEmpty && read.errors?.first?.field == "a.b")
        #expect(problem.response.headers[.contentType] == "application/problem+json")
        #expect((400..<600).contains(code.status.code))
    }

    @Test("statuses have their header fields", arguments: codes)
    func headers(_ code: ProblemCode) {
        let headers = Problem(code, "").response.headers
        #expect((headers[.wwwAuthenticate] != nil) == (code.status == .unauthorized))
        if code.status == .serviceUnavailable { #expect(headers[.retryAfter] != nil) }
    }

    @Test("each problem has its own title")
    func titles() {
        #expect(Set(Self.codes.map(\.title)).count == Self.codes.count)
        #expect(Set(Self.codes.map(\.rawValue)).count == Self.codes.count)
    }

    @Test("external errors become problems without internals")
    func mapping() {
        struct Internal: Error, CustomStringConvertible { var description: String { "SELECT secret FROM table" } }
        let problem = Problem(describing: Internal())
        #expect(problem.code == .internalError)
        #expect(!String(buffer: problem.body).contains("secret"))
        #expect(Problem(describing: NIOTooManyBytesError(maxBytes: 1)).code == .bodyTooLarge)
        #expect(Problem(describing: RequestTimedOut()).response.headers[.connection] == "close")
        #expect(Problem(describing: HTTPError(.badRequest, message: "x")).code == .badRequest)
        #expect(Problem(describing: CancellationError()).status == .serviceUnavailable)
        #expect(Problem(describing: Problem(.busy, "")).code == .busy)
    }
}
