/// Builds app receipts attribute by attribute. Their signature is invalid, which reading must ignore.
struct ReceiptBuilder {
    var writer = BERWriter(form: .definite)
    var attributes: [[UInt8]] = []

    init(_ form: BERWriter.Form = .definite, environment: String? = "Production") {
        writer = BERWriter(form: form)
        if let environment { add(0, BERWriter.utf8(environment)) }
        add(2, BERWriter.utf8("com.example.app"))
        add(3, BERWriter.utf8("1.2"))
        add(4, [0xDE, 0xAD])
        add(5, Array(repeating: 7, count: 20))
        add(12, BERWriter.ia5("2026-01-02T03:04:05Z"))
        add(19, BERWriter.utf8("1.0"))
        add(21, BERWriter.ia5(""))
        // Types that only the store understands. Some of the values are not BER.
        add(6, [0xFF, 0xFF, 0xFF])
        add(99, [])
    }

    mutating func add(_ type: Int64, _ value: [UInt8]) {
        attributes.append(attribute(type, value))
    }

    func attribute(_ type: Int64, _ value: [UInt8]) -> [UInt8] {
        writer.sequence(BERWriter.integer(type), BERWriter.integer(1), writer.octets(value))
    }

    mutating func add(_ purchase: WrittenPurchase) {
        add(17, writer.set(purchase.attributes.map { attribute($0.type, $0.value) }))
    }

    var payload: [UInt8] { writer.set(attributes) }

    func envelope(payload: [UInt8]) -> [UInt8] {
        let sha256: [UInt8] = [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]
        let rsa: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
        let data: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
        let signedData: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
        let certificate = BERWriter.definite(0x30, BERWriter.integer(1))
        let signer = writer.sequence(
            BERWriter.integer(1),
            writer.sequence(BERWriter.definite(0x30, []), BERWriter.integer(4711)),
            writer.sequence(sha256), writer.sequence(rsa), writer.octets(Array(repeating: 0x5A, count: 256)))
        return writer.sequence(
            signedData,
            writer.context(
                0,
                writer.sequence(
                    BERWriter.integer(1), writer.set([writer.sequence(sha256)]),
                    writer.sequence(data, writer.context(0, writer.octets(payload))),
                    writer.context(0, certificate), writer.set([signer]))))
    }

    var bytes: [UInt8] { envelope(payload: payload) }
}
