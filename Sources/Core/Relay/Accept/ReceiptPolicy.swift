public import AppleStore
import HTTPServer
package import RelayCore

/// Whether new receipts are verified, and what happens to one that is not genuine.
public struct ReceiptPolicy: Sendable {
    public enum Mode: String, Sendable, CaseIterable {
        /// Receipts are not verified.
        case off
        /// A receipt that is not genuine is recorded and shown, but still sent: Cleeng decides.
        case observe
        /// A receipt that is not proven to be genuine is refused.
        case enforce
    }

    private let mode: Mode
    package let trust: ChainOfTrust
    package let scope: StoreScope

    public init(_ mode: Mode, trust: ChainOfTrust, scope: StoreScope) {
        self.mode = mode
        self.trust = trust
        self.scope = scope
    }

    /// - Parameter app: bundle id of the sender's key; empty if the key has none.
    func judge(_ receipt: ReadReceipt, app: BundleID) async -> Verification {
        mode == .off ? .notChecked : await verify(receipt.document, app)
    }

    /// Refuses a receipt by the policy. An unchecked purchase at another store passes: the store could not be asked,
    /// and the app would have to wait for it.
    ///
    /// - Throws: ``Problem`` 422 if the policy refuses this result.
    func check(_ receipt: ReadReceipt) throws {
        guard mode == .enforce else { return }
        guard receipt.isReadable || receipt.isEmpty else {
            throw Problem(
                .receiptNotGenuine, "unreadable: it is not a receipt that can be read; send it as the App Store gave it"
            )
        }
        let isApple = receipt.platform == .apple
        switch receipt.verification {
        case .genuine: return
        case .notGenuine(let code, let detail):
            let advice = isApple ? "; send the receipt as the App Store gave it" : ""
            throw Problem(.receiptNotGenuine, "\(code): \(detail)\(advice)")
        case .notChecked where isApple:
            throw Problem(
                .receiptNotGenuine,
                "a transaction receipt of iOS 6 cannot be verified; send the app receipt or a signed transaction")
        case .notChecked: return
        }
    }

    var isOn: Bool { mode != .off }

    /// Whether the receipt's content may be used as Apple's. True if the mode is `off`, and for a receipt that is
    /// genuine but from another app or environment.
    func trusts(_ verification: Verification) -> Bool {
        guard mode != .off else { return true }
        switch verification {
        case .genuine: return true
        case .notChecked: return false
        case .notGenuine(let code, _):
            return [NotGenuine.Code.bundle, .appId, .environment].contains { $0.rawValue == code }
        }
    }

    /// Verifies a receipt in every mode, for validators: their answer rests on the receipt alone.
    package func prove(_ receipt: ReadReceipt, app: BundleID) async -> Verification {
        await verify(receipt.document, app)
    }

    private func verify(_ document: PurchaseDocument?, _ app: BundleID) async -> Verification {
        do throws(NotGenuine) {
            guard let document else { throw NotGenuine(.unreadable, "it is not a receipt that can be read") }
            return try await document.verify(trust, scope.narrowed(to: app)) ? .genuine : .notChecked
        } catch {
            return .notGenuine(code: error.code.rawValue, detail: error.detail)
        }
    }
}
