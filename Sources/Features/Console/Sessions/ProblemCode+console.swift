import HTTPServer
import Hummingbird

extension ProblemCode {
    static let formNotOurs = ProblemCode("form_not_ours", .forbidden, "The form cannot be trusted")
}
