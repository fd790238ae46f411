import HTTPServer
import Hummingbird

extension ProblemCode {
    static let purchaseEnded = ProblemCode("purchase_ended", .unprocessableContent, "The purchase is over")
}
