import HTTPServer
import Hummingbird
import RelayFront

extension ProblemCode {
    static let purchaseEnded = ProblemCode("purchase_ended", .unprocessableContent, "The purchase is over")
}
