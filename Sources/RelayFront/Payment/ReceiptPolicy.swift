public import AppleStore
import RelayCore

/// Whether new receipts are verified, and how one that is not genuine is answered.
public struct ReceiptPolicy: Sendable {
    public enum Mode: String, Sendable, CaseIterable {
        /// Nothing is verified.
        case off
        /// A receipt that is not genuine is recorded and shown, and still sent: Cleeng decides.
        case observe
        /// What is not shown to be genuine is refused.
        case enforce
    }

    private let mode: Mode
    let trust: ChainOfTrust
    let scope: StoreScope

    public init(_ mode: Mode, trust: ChainOfTrust, scope: StoreScope) {
        self.mode = mode
        self.trust = trust
        self.scope = scope
    }

    /// - Parameter app: the bundle id of the key that it came with; empty where the key names none.
    func judge(_ receipt: ReadReceipt, app: BundleID) async -> Verification {
        mode == .off ? .notChecked : await verify(receipt.document, app)
    }

    /// Another store's purchase that could not be checked passes: the app would have to wait for the store.
    ///
    /// - Throws: ``Problem`` 422 where one with this result is refused.
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

    /// Whether what the receipt says is Apple's word, or nobody wants to know. Genuine and of another app or environment is Apple's word too.
    func trusts(_ verification: Verification) -> Bool {
        guard mode != .off else { return true }
        switch verification {
        case .genuine: return true
        case .notChecked: return false
        case .notGenuine(let code, _):
            return [NotGenuine.Code.bundle, .appId, .environment].contains { $0.rawValue == code }
        }
    }

    /// Whatever the mode is: for those who answer with what a receipt says, and have nobody else to ask.
    func prove(_ receipt: ReadReceipt, app: BundleID) async -> Verification { await verify(receipt.document, app) }

    private func verify(_ document: PurchaseDocument?, _ app: BundleID) async -> Verification {
        do throws(NotGenuine) {
            guard let document else { throw NotGenuine(.unreadable, "it is not a receipt that can be read") }
            return try await document.verify(trust, scope.narrowed(to: app)) ? .genuine : .notChecked
        } catch {
            return .notGenuine(code: error.code.rawValue, detail: error.detail)
        }
    }
}
