import AppStoreSimulation
import AppleStore
import Foundation
import RelayCore

extension FuzzTarget {
    /// Receipts in binary and in base64, transaction receipts, signed transactions, and their verification. The first
    /// byte selects the reader, so that one corpus serves all.
    static let apple = FuzzTarget("apple", seeds: AppleSeeds.all) { input in
        guard let choice = input.first else { return }
        let bytes = Array(input.dropFirst())
        switch choice % 4 {
        case 0: try AppleReaders.read(.binary(bytes))
        case 1: try (try? ReceiptData(String(decoding: bytes, as: UTF8.self))).map(AppleReaders.read)
        case 2: await AppleReaders.verify(bytes)
        default: try (try? ReceiptData(AppleReaders.unsigned(bytes))).map(AppleReaders.read)
        }
    }

    /// Statement about a certificate by Apple's OCSP responder, or by an attacker on the network path.
    static let ocsp = FuzzTarget("ocsp", seeds: AppleSeeds.statements) { bytes in
        await AppleReaders.verify(AppleSeeds.transactionBytes)
        for certificate in AppleSeeds.trust.recentChains.flatMap({ $0.certificates(validAt: Date()) }) {
            _ = await RevocationCheck { _, _ in bytes }.status(of: certificate)
        }
    }

    /// The App Store's notifications of both versions.
    static let notifications = FuzzTarget("app-store-notifications", seeds: AppleSeeds.notifications) { bytes in
        if case .statusUpdate(let unread)? = try? ServerNotification(body: bytes), let update = try? unread.read() {
            try AppleReaders.check(update.notification)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        for text in [text, AppleReaders.unsigned(bytes)] {
            guard let signed = try? SignedNotification(text) else { continue }
            try? await signed.verify(AppleSeeds.trust, AppleSeeds.scope)
            try (try? signed.notification()).map(AppleReaders.check)
        }
    }
}

private enum AppleReaders {
    static func read(_ data: ReceiptData) throws {
        guard let read = try? ReadPurchase(PurchaseDocument(data), transactionId: "1") else { return }
        for period in read.ledgerPeriods {
            try FuzzFinding.check(period.purchasedAt)
            try FuzzFinding.check(period.expiresAt)
            FuzzLedger.apply(LedgerStatement(periods: [period]))
        }
    }

    static func check(_ notification: StoreNotification) throws {
        try FuzzFinding.check(notification.saidAt)
        for period in notification.statement?.periods ?? [] { try FuzzFinding.check(period.expiresAt) }
        FuzzLedger.apply(notification.statement)
    }

    /// Signs a payload and verifies it: that reaches code that an unsigned payload does not.
    static func verify(_ bytes: [UInt8]) async {
        if let receipt = try? SignedReceipt(berEncoded: bytes) {
            _ = try? await receipt.verify(AppleSeeds.trust)
        } else if let jws = try? CompactJWS(bytes), let transaction = try? SignedTransaction(jws) {
            _ = try? await transaction.jws.verify(AppleSeeds.trust, signedDate: transaction.payload.signedDate)
        }
    }

    /// A text with these bytes as payload, to test the code that runs before verification.
    static func unsigned(_ payload: [UInt8]) -> String {
        func part(_ bytes: [UInt8]) -> String {
            Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
                "=", with: "")
        }
        let header = #"{"alg":"ES256","x5c":["MAA=","MAE=","MAI="]}"#
        return "\(part(Array(header.utf8))).\(part(payload)).\(part(Array("signature".utf8)))"
    }
}
