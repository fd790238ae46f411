import Hummingbird
import NIOCore
import RelayCore
import TestRun
import Testing

@testable import HTTPServer
@testable import PurchasesAPI
@testable import Relay

@Suite("Requests of Fovea's clients, and their errors")
struct PurchasesAPITests {
    @Test("a customer's name is all between the path's first and last words")
    func names() throws {
        for (path, name) in [
            ("/v2/customers/ana/purchases", "ana"), ("/v2/customers/a/purchases/b/purchases/", "a/purchases/b"),
            ("/v2/customers/a%20b/purchases", "a b"), ("/v2/customers/%zz/purchases", "%zz"),
            ("/v2/customers/\u{301}ana/purchases", "\u{301}ana"),
        ] {
            guard case .purchases(let read)? = CustomerPath(path) else {
                Issue.record("no customer: \(path)")
                continue
            }
            #expect(read.utf8.elementsEqual(name.utf8), "\(path)")
        }
        #expect(CustomerPath("/v2/customers") == .all && CustomerPath("/v2/customers/") == .all)
        #expect(CustomerPath("/v2/customers/ana/consumption") == .consumption(of: "ana"))
        for path in ["/v2/customers//purchases", "/v2/customers/ana", "/v2/customersx/ana/purchases", "/v2", ""] {
            #expect(CustomerPath(path) == nil, "\(path)")
        }
        #expect(CustomerPath.plainName("/v2/customers/ana/purchases?x=1") == nil)
    }

    /// Swift sorts the marks by insertion in order to compare or hash the text, which takes minutes.
    @Test("a long text in place of a type is refused at once", .timeLimit(.paced(minutes: 1)))
    func longType() throws {
        let marks = String(repeating: "\u{301}", count: 400_000) + String(repeating: "\u{316}", count: 400_000)
        let body = ByteBuffer(string: "{\"transaction\":{\"type\":\"i\(marks)\"}}")
        do {
            _ = try ValidateRequest(body, app: "")
            Issue.record("it was taken")
        } catch let problem as Problem {
            #expect(problem.errors.map(\.field) == ["transaction.type"])
            #expect(problem.errors.allSatisfy { $0.detail.utf8.count < 300 })
        }
    }

    @Test("each path's errors have its clients' form")
    func errors() {
        let dialects = [ErrorDialect.fovea, .validator]
        func status(_ path: String, _ code: ProblemCode) -> Int {
            Problem(code, "why").response(at: path, dialects).status.code
        }
        #expect(status("/v2/nowhere", .notFound) == 404 && status("/v1/validate", .purchaseEnded) == 200)
        #expect(status("/v1/validate/", .internalError) == 200 && status("/v1/validate", .methodNotAllowed) == 405)
        func isProblem(_ path: String) -> Bool {
            Problem(.notFound, "").response(at: path, dialects).headers[.contentType] == Problem.contentType
        }
        #expect(!isProblem("/v2/") && !isProblem("/v1/validate"))
        for path in ["/v2", "/v1/validate/x", "/apple/payment", "/"] { #expect(isProblem(path), "\(path)") }
    }

    @Test(
        "the plugin's number says whether it may try again",
        arguments: [
            (ProblemCode.storeUnavailable, ValidatorCode.connectionFailed), (.rateLimited, .connectionFailed),
            (.requestTimeout, .connectionFailed), (.purchaseEnded, .purchaseExpired),
            (.databaseUnavailable, .internalError), (.receiptNotGenuine, .invalidPayload),
        ])
    func numbers(_ code: ProblemCode, _ number: ValidatorCode) {
        #expect(ValidatorCode(Problem(code, "")) == number)
    }
}
