import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOTLS
import Testing

@testable import OutboundHTTP

/// One connection without a network: the bytes that it sends, its handling of received bytes, and its reports. The test
/// controls the time.
struct KeptConnectionHandlerTests {
    private func openScene(encrypted: Bool = false, beneath: [any ChannelHandler] = []) throws -> Scene {
        let scene = try Scene(encrypted: encrypted, beneath: beneath)
        try scene.open()
        return scene
    }

    private func body(_ call: KeptCall) -> String? {
        try? call.answer?.get().wholeBody.map { String(buffer: $0) }
    }

    /// The error of an answer that ended after its head.
    private func bodyError(_ call: KeptCall) -> OutboundError? {
        guard case .success(let reply) = call.answer, case .failure(let error) = reply.body else { return nil }
        return error
    }

    private func error(_ call: KeptCall) -> OutboundError? {
        guard case .failure(let error) = call.answer else { return nil }
        return error
    }

    @Test func aCallIsOneBufferAndItsAnswerFreesTheConnection() throws {
        let scene = try openScene()
        for number in 1...3 {
            let call = scene.send()
            #expect(try scene.channel.readOutbound(as: ByteBuffer.self) == call.request)
            #expect(try scene.channel.readOutbound(as: ByteBuffer.self) == nil)
            #expect(call.answer == nil)
            try scene.receive("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(number)")
            #expect(body(call) == "\(number)")
        }
        #expect(scene.events == ["freed", "freed", "freed"])
    }

    @Test func anAnswerMayArriveByteByByte() throws {
        let scene = try openScene()
        let call = scene.send()
        for byte in "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n" {
            #expect(call.answer == nil)
            try scene.receive(String(byte))
        }
        #expect(body(call) == "abc" && scene.events == ["freed"])
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
    ])
    func aServerThatClosesHasSaidSo(answer: String) throws {
        let scene = try openScene()
        let call = scene.send()
        try scene.receive(answer)
        #expect(body(call) == "x" && scene.events == ["closed"] && !scene.channel.isActive)
    }

    @Test func aBodyWithoutASizeEndsWithItsConnection() throws {
        let scene = try openScene()
        let call = scene.send()
        try scene.receive("HTTP/1.1 200 OK\r\n\r\nabc")
        #expect(call.answer == nil)
        scene.channel.pipeline.fireChannelInactive()
        #expect(body(call) == "abc" && scene.events == ["closed"])
    }

    @Test(arguments: [
        "204 No Content\r\n\r\n", "304 Not Modified\r\nContent-Length: 7\r\n\r\n",
        "200 OK\r\nContent-Length: 0\r\n\r\n",
    ])
    func someAnswersHaveNoBody(rest: String) throws {
        let scene = try openScene()
        let call = scene.send()
        try scene.receive("HTTP/1.1 \(rest)")
        #expect(body(call) == "" && scene.events == ["freed"])
    }

    @Test func informationalAnswersAreNone() throws {
        let scene = try openScene()
        let call = scene.send()
        try scene.receive("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
        #expect(call.answer == nil)
        try scene.receive("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
        #expect(body(call) == "x" && scene.events == ["freed"])
    }

    @Test func aConnectionThatEndsEndsItsCallOnce() throws {
        for (received, isHead) in [
            ("", false), ("HTTP/1.1 200 O", false), ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", true),
        ] {
            let scene = try openScene()
            let call = scene.send()
            if !received.isEmpty { try scene.receive(received) }
            scene.channel.pipeline.fireChannelInactive()
            #expect((isHead ? bodyError(call) : error(call)) == .connectionClosed, "\(received)")
            #expect(scene.events == ["closed"], "its request may have gone out, so it is not given back")
        }
    }

    @Test func whatIsNoHTTPIsUnreadable() throws {
        let scene = try openScene()
        let call = scene.send()
        try? scene.receive("hello, who is there?\r\n\r\n")
        #expect(error(call) == .unreadable && scene.events == ["closed"])
    }

    @Test func aBodyBeyondTheBoundEndsTheConnection() throws {
        for rest in ["Content-Length: 101\r\n\r\n", "\r\n" + String(repeating: "x", count: 101)] {
            let scene = try openScene()
            let call = scene.send()
            try scene.receive("HTTP/1.1 200 OK\r\n\(rest)")
            #expect(bodyError(call) == .responseTooLarge && scene.events == ["closed"])
        }
    }

    // MARK: Unexpected bytes

    @Test func bytesToAnIdleConnectionEndIt() throws {
        let scene = try openScene()
        try? scene.receive("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
        #expect(scene.events == ["closed"] && !scene.channel.isActive)
    }

    @Test func theBeginningOfAnAnswerEndsAnIdleConnection() throws {
        let scene = try openScene()
        _ = scene.send()
        try scene.receive("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        try? scene.receive("HTTP/1.1 408 Request Timeout\r\nConten")
        #expect(scene.events == ["freed", "closed"] && !scene.channel.isActive)
    }

    /// The socket is drained before it reports a failed write: what waited there answers nothing of this call.
    @Test func anAnswerThatWaitedWhenTheWriteFailedIsNotTheCalls() throws {
        let scene = try openScene(beneath: [FailingWrites(.afterAnAnswer)])
        let call = scene.send()
        #expect(call.answer == nil && scene.events == ["returned"])
    }

    @Test(arguments: [
        ("timeout=5, max=100", 4), ("max=100", 60), ("timeout=1", 0), ("timeout=900", 60), ("Timeout=x", 60),
    ])
    func theServersKeepAliveTimeIsRespected(said: String, seconds: Int64) throws {
        let scene = try openScene()
        let call = scene.send()
        try scene.receive("HTTP/1.1 200 OK\r\nKeep-Alive: \(said)\r\nContent-Length: 1\r\n\r\nx")
        #expect(body(call) == "x")
        guard seconds > 0 else {
            #expect(scene.events == ["closed"])
            return
        }
        scene.loop.advanceTime(by: .seconds(seconds) - .milliseconds(1))
        #expect(scene.events == ["freed"])
        scene.loop.advanceTime(by: .milliseconds(1))
        #expect(scene.events == ["freed", "expired"])
    }

    @Test func aConnectionThatEndsWithItsAnswerIsNotFreed() throws {
        let scene = try openScene()
        let call = scene.send()
        try scene.channel.writeInbound(ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"))
        scene.channel.pipeline.fireChannelInactive()
        scene.loop.run()
        #expect(body(call) == "x" && scene.events == ["closed"])
    }

    @Test func aSecondAnswerIsNotTakenForThatOfTheNextCall() throws {
        let scene = try openScene()
        let call = scene.send()
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"
        try? scene.receive(answer + "x" + answer + "y")
        #expect(body(call) == "x" && scene.events == ["closed"])
    }

    // MARK: Second sending

    @Test func aCallRefusedByTheKernelIsReturned() throws {
        let scene = try openScene(beneath: [FailingWrites(.atOnce)])
        let call = scene.send()
        #expect(call.answer == nil && scene.events == ["returned"] && !scene.channel.isActive)
    }

    @Test func aCallThatMayBeSentIsNotReturned() throws {
        let encrypted = try openScene(encrypted: true, beneath: [FailingWrites(.atOnce)])
        let first = encrypted.send()
        #expect(error(first) == .connectionClosed && encrypted.events == ["closed"])

        let writes = FailingWrites(.later)
        let plain = try openScene(beneath: [writes])
        let second = plain.send()
        #expect(second.answer == nil)
        writes.failAll()
        #expect(error(second) == .connectionClosed && plain.events == ["closed"])
    }

    @Test func aCallOnAClosedConnectionIsReturned() throws {
        let scene = try openScene()
        scene.channel.pipeline.fireChannelInactive()
        let call = scene.send()
        #expect(call.answer == nil && scene.events == ["closed", "returned"])
        #expect(try scene.channel.readOutbound(as: ByteBuffer.self) == nil)
    }

    @Test func afterManyAttemptsItFails() throws {
        let scene = try openScene()
        scene.channel.pipeline.fireChannelInactive()
        let call = scene.makeCall()
        for _ in 1...SendAttempt.mostAttempts { scene.send(call) }
        #expect(error(call) == .connectionClosed)
    }

    @Test func anAnswerBeforeTheWholeRequestEndsTheConnection() throws {
        let scene = try openScene(beneath: [FailingWrites(.later)])
        let call = scene.send()
        try scene.receive("HTTP/1.1 413 No\r\nContent-Length: 1\r\n\r\nx")
        #expect(body(call) == "x" && scene.events == ["closed"])
    }

    // MARK: Time

    @Test func theDeadlineCoversHeadAndBody() throws {
        for received in ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"] {
            let scene = try openScene()
            let call = scene.send(within: .seconds(10))
            if !received.isEmpty { try scene.receive(received) }
            scene.loop.advanceTime(by: .milliseconds(9_999))
            #expect(call.answer == nil)
            scene.loop.advanceTime(by: .milliseconds(1))
            #expect((received.isEmpty ? error(call) : bodyError(call)) == .timeout)
            #expect(scene.events == ["closed"] && !scene.channel.isActive)
        }
    }

    @Test func theAlarmOfOneCallDoesNotEndTheNext() throws {
        let scene = try openScene()
        _ = scene.send(within: .seconds(10))
        try scene.receive("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        scene.loop.advanceTime(by: .seconds(9))
        let call = scene.send(within: .seconds(10))
        scene.loop.advanceTime(by: .milliseconds(9_999))
        #expect(call.answer == nil)
        scene.loop.advanceTime(by: .milliseconds(1))
        #expect(error(call) == .timeout)
    }

    @Test func aShorterDeadlineThanTheLastIsKept() throws {
        let scene = try openScene()
        _ = scene.send(within: .seconds(10))
        try scene.receive("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let call = scene.send(within: .seconds(1))
        scene.loop.advanceTime(by: .seconds(1))
        #expect(error(call) == .timeout)
    }

    @Test func theBodyMayHaveATimeOfItsOwn() throws {
        let scene = try openScene()
        let call = scene.send(within: .seconds(10), body: .seconds(2))
        scene.loop.advanceTime(by: .seconds(5))
        try scene.receive("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx")
        scene.loop.advanceTime(by: .milliseconds(1_999))
        #expect(call.answer == nil)
        scene.loop.advanceTime(by: .milliseconds(1))
        #expect(bodyError(call) == .timeout)
    }

    @Test func whatIsTooLateIsNotSent() throws {
        let scene = try openScene()
        let call = scene.send(within: .zero)
        #expect(error(call) == .timeout && scene.events == ["freed"])
        #expect(try scene.channel.readOutbound(as: ByteBuffer.self) == nil)
    }

    @Test func anIdleConnectionExpires() throws {
        let scene = try openScene()
        scene.loop.advanceTime(by: .seconds(50))
        _ = scene.send(within: .seconds(30))
        try scene.receive("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        scene.loop.advanceTime(by: .milliseconds(59_999))
        #expect(scene.events == ["freed"])
        scene.loop.advanceTime(by: .milliseconds(1))
        #expect(scene.events == ["freed", "expired"])
    }

    @Test func aHandshakeWithoutAnEndTimesOut() throws {
        let scene = try Scene(encrypted: true)
        try scene.connect()
        scene.loop.advanceTime(by: .milliseconds(4_999))
        #expect(scene.opened.withLockedValue { $0 } == nil)
        scene.loop.advanceTime(by: .milliseconds(1))
        guard case .failure(let error) = scene.opened.withLockedValue({ $0 }), error as? OutboundError == .timeout
        else {
            Issue.record("the handshake took its time, and the opening did not fail by it")
            return
        }
        #expect(!scene.channel.isActive && scene.events.isEmpty)
    }

    // MARK: Cancellation

    @Test func aCancelledCallEndsItsConnection() throws {
        for received in ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"] {
            let scene = try openScene()
            let call = scene.send()
            if !received.isEmpty { try scene.receive(received) }
            scene.connection?.end(call, by: .cancelled)
            #expect((received.isEmpty ? error(call) : bodyError(call)) == .cancelled)
            #expect(scene.events == ["closed"] && !scene.channel.isActive)
        }
    }

    @Test func aCancellationDoesNotHitAnotherCall() throws {
        let scene = try openScene()
        let early = scene.makeCall()
        scene.connection?.end(early, by: .cancelled)
        #expect(error(early) == .cancelled)
        scene.send(early)
        #expect(scene.events == ["freed"], "nothing is sent of it")
        let next = scene.send()
        scene.connection?.end(early, by: .cancelled)
        #expect(next.answer == nil)
    }
}

/// A connection over an embedded channel, and its owner.
private final class Scene {
    let channel: EmbeddedChannel
    let handler: KeptConnectionHandler
    let opened = NIOLockedValueBox<Result<KeptConnection, any Error>?>(nil)
    private let owner = Owner()

    var loop: EmbeddedEventLoop { channel.embeddedEventLoop }
    var events: [String] { owner.events.withLockedValue { $0 } }
    var connection: KeptConnection? { try? opened.withLockedValue { $0 }?.get() }

    init(encrypted: Bool, beneath: [any ChannelHandler] = []) throws {
        channel = EmbeddedChannel()
        handler = KeptConnectionHandler(
            owner: owner, isEncrypted: encrypted, keepAlive: .seconds(60),
            openUntil: .uptimeNanoseconds(0) + .seconds(5))
        try channel.pipeline.syncOperations.addHandlers(
            beneath + [RequestBytes(), ByteToMessageHandler(HTTPResponseDecoder()), handler])
    }

    func connect() throws {
        let opened = opened
        handler.opened?.whenComplete { result in opened.withLockedValue { $0 = result } }
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    }

    func open() throws {
        try connect()
        channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil))
    }

    func makeCall(within time: TimeAmount = .seconds(20), body: TimeAmount? = nil) -> KeptCall {
        KeptCall(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"), by: loop.now + time, atMost: 100, bodyWithin: body)
    }

    func send(within time: TimeAmount = .seconds(20), body: TimeAmount? = nil) -> KeptCall {
        let call = makeCall(within: time, body: body)
        send(call)
        return call
    }

    func send(_ call: KeptCall) { connection?.send(call) }

    func receive(_ text: String) throws {
        defer { loop.run() }
        try channel.writeInbound(ByteBuffer(string: text))
    }
}

private final class Owner: ConnectionOwner {
    let events = NIOLockedValueBox<[String]>([])

    func freed(_ connection: KeptConnection) { add("freed") }
    func closed(_ connection: KeptConnection) { add("closed") }
    func returned(_ call: KeptCall, by connection: KeptConnection) { add("returned") }
    func expired(_ connection: KeptConnection) { add("expired") }

    private func add(_ event: String) { events.withLockedValue { $0.append(event) } }
}

/// A kernel that refuses every request.
private final class FailingWrites: ChannelOutboundHandler {
    enum Moment { case atOnce, afterAnAnswer, later }
    typealias OutboundIn = ByteBuffer

    private let moment: Moment
    private var promises: [EventLoopPromise<Void>] = []

    init(_ moment: Moment) { self.moment = moment }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard let promise else { return }
        switch moment {
        case .atOnce: promise.fail(IOError(errnoCode: EPIPE, reason: "write"))
        case .afterAnAnswer:
            context.fireChannelRead(NIOAny(ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")))
            context.fireChannelReadComplete()
            promise.fail(IOError(errnoCode: EPIPE, reason: "write"))
        case .later: promises.append(promise)
        }
    }

    func failAll() {
        for promise in promises { promise.fail(IOError(errnoCode: EPIPE, reason: "write")) }
        promises = []
    }

    func handlerRemoved(context: ChannelHandlerContext) { failAll() }
}
