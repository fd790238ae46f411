import Formats
import Hummingbird
import NIOCore
import Testing

@testable import HTTPServer

@Suite("Paths in any case, forms, and names in any case")
struct FoldedRequestTests {
    @Test("some paths are folded, their queries and all other paths are not")
    func paths() {
        let folded = FoldedPaths(["/api/v1", "/oauth/token"])
        #expect(folded.fold("/API/V1/Orders/66AA?From=AB") == "/api/v1/orders/66aa?From=AB")
        #expect(folded.fold("/OAuth/Token/") == "/oauth/token/")
        #expect(folded.fold("/api/v1?A") == "/api/v1?A")
        for path in [
            "/apple/payment", "/entitlements/AB", "/v2/customers/Ana/purchases", "/api/v10/X", "/api", "/", "",
        ] {
            #expect(folded.fold(path) == nil, "\(path)")
        }
    }

    @Test("the path alone decides the form of an error's answer")
    func dialects() {
        let plain = ErrorDialect { problem in
            problem.answer(challenge: Problem.basicChallenge) { $0.value(problem.message) }
        } of: {
            $0.hasBytes(first: "/plain/")
        }
        let problem = Problem(
            ProblemCode("no_key", .unauthorized, "No key"), "",
            errors: [FieldError("", .required, "is required"), FieldError("a", .invalid, "is b")])
        #expect(problem.message == "the body is required; a is b")
        let answer = problem.response(at: "/plain/x", [plain])
        #expect(answer.headers[.wwwAuthenticate] == Problem.basicChallenge && answer.status == .unauthorized)
        for path in ["/plain", "/", ""] {
            let answer = problem.response(at: path, [plain])
            #expect(answer.headers[.contentType] == Problem.contentType, "\(path)")
            #expect(answer.headers[.wwwAuthenticate]?.hasPrefix("Bearer") == true)
        }
    }

    @Test("forms are decoded; a repeated name is ignored")
    func forms() throws {
        let form = try FormBody(ByteBuffer(string: "a=1+2%263&b=&c&d=x&d=y&e=%zz"))
        #expect(form["a"] == "1 2&3" && form["b"] == nil && form["c"] == nil && form["d"] == nil && form["e"] == "%zz")
        #expect(throws: Problem.self) {
            try FormBody(ByteBuffer(string: Array(repeating: "a=1", count: 33).joined(separator: "&")))
        }
    }

    @Test("names ignore case, the last of two counts, null is absent, and unknown names are skipped")
    func names() throws {
        let body = try FieldReader(
            ByteBuffer(string: #"{"TYPE":"a","type":"b","x":{"y":[1]},"Obj":{ "K" : 1 },"N":null,"L":["p"]}"#),
            FieldNames(["Type", "Obj", "N", "L"], inAnyCase: true))
        #expect(body["Type"] == .string("b") && body["Obj"] == .object(#"{ "K" : 1 }"#))
        #expect(body["N"] == .absent && body["x"] == .absent && body["L"] == .array(#"["p"]"#))
    }
}
