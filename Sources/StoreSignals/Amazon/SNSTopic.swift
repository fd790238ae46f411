/// A topic of Amazon SNS, by its ARN (source: Amazon SNS, "Amazon Resource Names").
public struct SNSTopic: Sendable, Hashable, CustomStringConvertible {
    public static let rule = "the ARN of an SNS topic, such as arn:aws:sns:us-east-1:123456789012:name"

    /// The ARN.
    public let description: String
    public let region: String

    /// Nil for what is no such ARN.
    public init?(_ arn: String) {
        guard
            let match = arn.wholeMatch(of: /arn:aws[a-z-]{0,16}:sns:([a-z0-9-]{1,32}):[0-9]{12}:[A-Za-z0-9_.-]{1,256}/)
        else { return nil }
        description = arn
        region = String(match.1)
    }

    /// Where SNS serves the topic's region.
    public var host: String { "sns.\(region).amazonaws.com" + (description.hasPrefix("arn:aws-cn:") ? ".cn" : "") }
}
