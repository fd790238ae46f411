import SimulatorKit

/// A subscription to an SNS topic.
struct SNSSettings: Sendable, Encodable {
    static let exampleTopic = "arn:aws:sns:us-east-1:123456789012:example"

    let url: String
    /// The topic's ARN.
    let topic: String
    var signatureVersion = SNSSignatureVersion.sha1
    /// Until it is confirmed, only the confirmation request is sent.
    var confirmed = false

    init(url: String, topic: String = exampleTopic) throws(ControlFault) {
        try ControlFault.checkPushURL(url)
        let parts = topic.split(separator: ":", omittingEmptySubsequences: false)
        // The region becomes part of a host, and the whole ARN part of a query and of XML.
        guard parts.count == 6, parts[0] == "arn", parts[2] == "sns", !parts[3].isEmpty, topic.utf8.count <= 400,
            topic.utf8.allSatisfy({ $0.isLetterOrDigit || "-_.:".utf8.contains($0) })
        else { throw .invalid("the topic of push is the ARN of one, such as \(Self.exampleTopic)") }
        self.url = url
        self.topic = topic
    }

    /// Host of SNS in the topic's region.
    var host: String {
        let region = topic.split(separator: ":")[3]
        return "sns.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")"
    }

    /// A topic of another account in the same region.
    var foreignTopic: String {
        var parts = topic.split(separator: ":", omittingEmptySubsequences: false)
        parts[4] = "999999999999"
        return parts.joined(separator: ":")
    }

    var subscriptionARN: String { "\(topic):11111111-2222-4333-8444-555555555555" }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}

/// Body of `PUT /control/push`. Missing fields stay unchanged.
struct SNSSettingsOrder: Decodable {
    var url: String?
    var topic: String?
    var signatureVersion: SNSSignatureVersion?
    var confirmed: Bool?

    static let fields = ["url", "topic", "signatureVersion", "confirmed"]
}
