import Cleeng
import Logging
import NIOConcurrencyHelpers
import NIOCore
import OutboundHTTP
import ReceiverSupport

import struct RelayCore.Identifier

let publisherToken = "pub_tok_SECRET_0123456789"

/// Runs `test` with a client for a server; everything it logs, at any level, is added to `log`.
func withCleeng<Answer>(
    _ url: String, source: EntitlementSource = .entitlements, tags: [OfferID: [TagID]] = [:],
    timeout: Duration = .seconds(20), maxResponseBytes: Int = 1 << 20, connects: Bool = true,
    log: CapturedLog = CapturedLog(),
    test: (CleengClient) async throws -> Answer
) async throws -> Answer {
    let configuration = try CleengConfiguration(
        publisherToken: Secret(publisherToken), paymentURL: url, apiURL: url + "/", storeKit2URL: url + "/",
        googleURL: connects ? url + "/google/" : nil, entitlementSource: source, tagsByOffer: tags,
        upstreamTimeout: timeout, maxResponseBytes: maxResponseBytes)
    let connections = configuration.connections()
    defer { connections.shutDown() }
    var logger = Logger(label: "cleeng") { _ in log }
    logger.logLevel = .trace
    return try await test(CleengClient(configuration, connections: connections, logger: logger))
}

let payment = Payment(
    customerEmail: "ana+tv@example.test", offerID: "S598742062_US", receipt: appReceipt(ByteBuffer(string: "MIIT+/==")))

func appReceipt(_ data: ByteBuffer) -> Payment.Receipt {
    .apple(data, transactionID: "2000000111222333", appType: "ios")
}
