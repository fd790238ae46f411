/// The codes of Cleeng's JSON-RPC errors that have a meaning of their own here (its reference "JS API", version 2.0).
enum JSONRPCError {
    /// The customer's token is empty or invalid.
    static let customerToken = 1
    /// The publisher's token is invalid; and: an enterprise account is required, or access is denied.
    static let misconfigurations: Set<Int> = [3, 5]
    /// The email is unknown or not of this publisher; and: invalid arguments, which an unknown email answers as well.
    static let unknownCustomer: Set<Int> = [10, 11]
}
