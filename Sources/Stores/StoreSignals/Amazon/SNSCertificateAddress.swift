/// The address of a certificate that signs messages, as SNS publishes it.
public struct SNSCertificateAddress: Sendable, Hashable {
    public let url: String

    /// Nil unless the host is SNS in the topic's region, or one of `hosts`.
    ///
    /// - Parameter hosts: patterns of host names; `*` is one region's name.
    public init?(_ url: String, of topic: SNSTopic, hosts: [SNSHostPattern]) {
        guard
            let match = url.wholeMatch(
                of: /https:\/\/([a-z0-9.-]{1,255})\/SimpleNotificationService-[0-9a-f]{32}\.pem/),
            hosts.contains(where: { $0.matches(String(match.1), region: topic.region) })
        else { return nil }
        self.url = url
    }
}

/// Hosts from which a certificate may be fetched.
public struct SNSHostPattern: Sendable, Hashable {
    private let before: String
    /// Nil if the pattern is one exact host.
    private let after: String?

    /// Nil unless the text is a host name with at most one `*`, which matches one whole label.
    public init?(_ text: String) {
        guard text.utf8.count <= 255, text != "*",
            text.wholeMatch(of: /(?:[a-z0-9-]+\.)*(?:\*|[a-z0-9-]+)(?:\.[a-z0-9-]+)*/) != nil
        else { return nil }
        let parts = text.split(separator: "*", omittingEmptySubsequences: false)
        before = String(parts[0])
        after = parts.count == 2 ? String(parts[1]) : nil
    }

    func matches(_ host: String, region: String) -> Bool { host == before + (after.map { region + $0 } ?? "") }
}
