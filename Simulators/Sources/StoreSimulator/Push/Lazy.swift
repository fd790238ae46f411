import Synchronization

/// A value created on first use. An RSA key takes a noticeable part of a second, and most simulators never sign
/// anything.
final class Lazy<Value: Sendable>: Sendable {
    private let made = Mutex<Value?>(nil)
    private let make: @Sendable () throws -> Value

    init(_ make: @escaping @Sendable () throws -> Value) { self.make = make }

    func value() throws -> Value {
        try made.withLock { made throws in
            if let made { return made }
            let value = try make()
            made = value
            return value
        }
    }
}
