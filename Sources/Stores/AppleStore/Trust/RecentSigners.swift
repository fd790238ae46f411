import Crypto
import NIOConcurrencyHelpers
import RelayCore

/// The most recently used signers whose chains were verified.
final class RecentSigners: Sendable {
    /// All inputs of the verification except the time.
    struct Name: Hashable, Sendable {
        private let digest: [UInt8]

        init(_ certificates: [ArraySlice<UInt8>], signer: CMSSigner.Identifier?) {
            var hash = SHA256()
            var parts = certificates
            switch signer {
            case nil: hash.update(data: [0])
            case .issuerAndSerialNumber(let issuer, let serialNumber):
                hash.update(data: [1])
                parts += [issuer, serialNumber]
            case .subjectKeyIdentifier(let identifier):
                hash.update(data: [2])
                parts.append(identifier)
            }
            for part in parts {
                withUnsafeBytes(of: part.count) { hash.update(bufferPointer: $0) }
                hash.update(data: part)
            }
            digest = Array(hash.finalize())
        }
    }

    private struct State {
        var signers: [Name: (signer: ChainOfTrust.Signer, lastUse: UInt64)] = [:]
        var clock: UInt64 = 0
    }

    private let capacity: Int
    private let state = NIOLockedValueBox(State())

    init(capacity: Int) { self.capacity = capacity }

    subscript(_ name: Name) -> ChainOfTrust.Signer? {
        state.withLockedValue { state in
            state.clock += 1
            state.signers[name]?.lastUse = state.clock
            return state.signers[name]?.signer
        }
    }

    /// Most recently used first.
    var signers: [ChainOfTrust.Signer] {
        state.withLockedValue { Array($0.signers.values) }.sorted { $0.lastUse > $1.lastUse }.map(\.signer)
    }

    func keep(_ signer: ChainOfTrust.Signer, as name: Name) {
        state.withLockedValue { state in
            state.clock += 1
            if state.signers[name] == nil, state.signers.count >= capacity,
                let oldest = state.signers.min(by: { $0.value.lastUse < $1.value.lastUse })?.key
            {
                state.signers[oldest] = nil
            }
            state.signers[name] = (signer, state.clock)
        }
    }
}
