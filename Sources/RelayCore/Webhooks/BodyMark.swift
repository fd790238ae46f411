/// Tells one password from another, without telling what it is: sixteen bits of a digest, too few to guess by.
///
/// The mark of a message's first try is kept with it. Where the password is another one by a later try, the body is
/// another one too, and goes out under an id of its own: `ID.MARK`.
public struct BodyMark: Sendable, Equatable {
    public let number: Int32

    public init(number: Int32) {
        self.number = number
    }

    /// - Parameter first: that of the message's first try.
    public func messageID(_ id: some CustomStringConvertible, first: BodyMark) -> String {
        self == first ? "\(id)" : "\(id).\(String(UInt32(bitPattern: number), radix: 16))"
    }
}
