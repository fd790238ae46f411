extension JWSHeader {
    private struct Fields: Decodable {
        let alg: String?
        let x5c: [String]?
        let kid: String?
        let typ: String?
    }

    init(json: [UInt8]) throws(ReceiptReadError) {
        guard let fields = try? StoreJSON.decode(Fields.self, from: json),
            fields.x5c?.count ?? 0 <= ReceiptLimits.certificates
        else { throw .malformedJWS }
        var certificates: [[UInt8]] = []
        for text in fields.x5c ?? [] {
            guard let certificate = ReceiptData.decode(text), certificate.count <= ReceiptLimits.certificateBytes
            else { throw .malformedJWS }
            certificates.append(certificate)
        }
        self.certificates = certificates
        algorithm = fields.alg.flatMap(StoreText.text)
        keyId = fields.kid.flatMap(StoreText.text)
        type = fields.typ.flatMap(StoreText.text)
    }
}
