import CLibPQ
import NIOConcurrencyHelpers

/// Carries an open `PGconn` from the thread that opened it to the event thread. Closes it where nobody takes it.
final class RawConnection: Sendable {
    // As a number, for a pointer may not change threads in Swift's eyes.
    private let address: NIOLockedValueBox<UInt>

    init(_ raw: OpaquePointer) { address = NIOLockedValueBox(UInt(bitPattern: raw)) }

    deinit {
        if let raw = take() { PQfinish(raw) }
    }

    /// Once; from then on the caller is to close it.
    func take() -> OpaquePointer? {
        address.withLockedValue { address in
            defer { address = 0 }
            return OpaquePointer(bitPattern: address)
        }
    }
}
