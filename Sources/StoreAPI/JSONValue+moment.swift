import OutboundHTTP
package import RelayCore

extension JSONValue {
    /// A date in any of its forms; what is finer than a microsecond is cut off. Nil for what is none.
    package var moment: Timestamp? { scalarText.flatMap { Timestamp(external: $0) } }
}
