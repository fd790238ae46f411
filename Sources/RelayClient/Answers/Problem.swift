/// An `application/problem+json` body (RFC 9457), as far as it can be read.
struct Problem: Decodable {
    struct Field: Decodable {
        var field: String?
        var code: String?
        var detail: String?
    }

    var code: String
    var title: String?
    var detail: String?
    var errors: [Field]?
}
