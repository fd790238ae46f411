public import AppleStore
import Foundation
public import Logging
import Metrics
import NIOConcurrencyHelpers
public import ServiceLifecycle

/// Checks whether certificates of recent signatures were revoked, one after another. No purchase waits for it or is
/// judged by it: operators decide whether to stop accepting purchases.
///
/// Each process checks only certificates that it has verified itself.
public final class RevocationWatch: Service {
    private struct State {
        /// Revoked certificates among those checked last. An inconclusive answer leaves a certificate in the set.
        var revoked: Set<SigningCertificate> = []
        /// Certificates that were logged, once each.
        var logged: Set<SigningCertificate> = []
    }

    private let trust: ChainOfTrust
    private let check: RevocationCheck
    private let includesAddedRoots: Bool
    private let interval: Duration
    private let logger: Logger
    private let state = NIOLockedValueBox(State())

    private static let mostChains = 16
    /// Pause while there is nothing to check: the first signatures are verified soon after the start.
    private static let firstPause = Duration.seconds(60)

    /// - Parameters:
    ///   - includesAddedRoots: also checks certificates below a root that is not Apple's.
    ///   - interval: time between two rounds.
    public init(
        trust: ChainOfTrust, check: RevocationCheck, includesAddedRoots: Bool, interval: Duration, logger: Logger
    ) {
        self.trust = trust
        self.check = check
        self.includesAddedRoots = includesAddedRoots
        self.interval = interval
        self.logger = logger
    }

    /// Number of revoked certificates among those checked last.
    public var revoked: Int { state.withLockedValue { $0.revoked.count } }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            var lookedUp = 0
            while !Task.isCancelled {
                try? await Task.sleep(for: lookedUp > 0 ? self.interval : min(self.interval, Self.firstPause))
                guard !Task.isCancelled else { return }
                lookedUp = await self.runOnce()
            }
        }
    }

    /// - Returns: the number of certificates to check.
    func runOnce() async -> Int {
        let certificates = due(at: Date())
        var reasons: [String] = []
        for certificate in certificates {
            let status = await check.status(of: certificate)
            guard !Task.isCancelled else { break }
            count(status)
            switch status {
            case .good: state.withLockedValue { _ = $0.revoked.remove(certificate) }
            case .revoked: note(certificate)
            case .unknown(let reason): reasons.append(reason)
            }
        }
        state.withLockedValue { $0.revoked.formIntersection(certificates) }
        if let first = reasons.first {
            logger.warning(
                "certificates could not be checked for revocation",
                metadata: ["certificates": "\(reasons.count)", "error": "\(first)"])
        }
        return certificates.count
    }

    /// Certificates to check, each once: several chains share an authority.
    private func due(at now: Date) -> [SigningCertificate] {
        var seen: Set<SigningCertificate> = []
        return trust.recentChains.filter { includesAddedRoots || $0.isApples }.prefix(Self.mostChains)
            .flatMap { $0.certificates(validAt: now) }.filter { seen.insert($0).inserted }
    }

    private func note(_ certificate: SigningCertificate) {
        let isNew = state.withLockedValue { state in
            state.revoked.insert(certificate)
            return state.logged.insert(certificate).inserted
        }
        guard isNew else { return }
        logger.critical(
            "a certificate that signs purchases was revoked; what it signs is still accepted",
            metadata: ["subject": "\(certificate.subject)", "serial_number": "\(certificate.serialNumber)"])
    }

    private func count(_ status: RevocationCheck.Status) {
        let result =
            switch status {
            case .good: "good"
            case .revoked: "revoked"
            case .unknown: "unknown"
            }
        Counter(label: "relay_apple_certificate_checks", dimensions: [("result", result)]).increment()
    }
}
