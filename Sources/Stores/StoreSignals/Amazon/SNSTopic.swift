/// An Amazon SNS topic, identified by its ARN (source: Amazon SNS, "Amazon Resource Names").
public struct SNSTopic: Sendable, Hashable, CustomStringConvertible {
    public static let rule = "the ARN of an SNS topic, such as arn:aws:sns:us-east-1:123456789012:name"

    /// The ARN.
    public let description: String
    public let region: String

    /// Nil if the text is not the ARN of a topic.
    public init?(_ arn: String) {
        guard
            let match = arn.wholeMatch(of: /arn:aws[a-z-]{0,16}:sns:([a-z0-9-]{1,32}):[0-9]{12}:[A-Za-z0-9_.-]{1,256}/)
        else { return nil }
        description = arn
        region = String(match.1)
    }

    /// Host of SNS in the topic's region.
    public var host: String { "sns.\(region).amazonaws.com" + (description.hasPrefix("arn:aws-cn:") ? ".cn" : "") }
}
