import Foundation
import Hummingbird
import NIOCore
import Testing

@testable import HTTPServer
@testable import Relay

@Suite("Problems")
struct ProblemTests {
    private struct Read: Decodable {
        struct Field: Decodable { var field, code, detail: String }
        var type, title, detail, code: String
        var status: Int
        var errors: [Field]?
    }

    /// Those of the core and its server.
    static let codes: [ProblemCode] = [
        .badRequest, .notJSON, .invalidIdempotencyKey, .missingKey, .badSignature, .unknownKey,
        .customerTokenRequired, .invalidCustomerToken, .wrongRole, .anotherCustomer, .notFound, .unknownValidation,
        .unknownNotification, .unknownDelivery, .unknownEvent, .unknownSubscription, .endpointNotActive,
        .methodNotAllowed, .requestTimeout, .stateNotAllowed, .superseded, .busy, .receiptGone, .bodyTooLarge,
        .unsupportedMediaType, .invalidFields, .idempotencyKeyReused, .ownedByAnother, .receiptNotGenuine,
        .notANotification, .notificationNotGenuine, .headersTooLarge, .internalError, .databaseUnavailable,
        .overloaded, .customerKeysUnavailable, .storeUnavailable, .rateLimited,
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

    /// The codes are read from the sources: those of features too, and none of the core's is missing above.
    @Test("each code and each title is one problem's, over all features")
    func unique() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: root.path)
            .filter { $0.contains("/ProblemCode") && $0.hasSuffix(".swift") }
        let declared = try files.flatMap { file in
            try String(contentsOf: root.appending(path: file), encoding: .utf8)
                .matches(of: /= ProblemCode\(\s*"(\w+)", \.\w+, "([^"]+)"/)
                .map { (code: String($0.output.1), title: String($0.output.2), isCore: !file.hasPrefix("Features/")) }
        }
        #expect(Set(declared.map(\.code)).count == declared.count && Set(declared.map(\.title)).count == declared.count)
        #expect(Set(declared.filter(\.isCore).map(\.code)) == Set(Self.codes.map(\.rawValue)))
        #expect(declared.count { !$0.isCore } >= 3)
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
