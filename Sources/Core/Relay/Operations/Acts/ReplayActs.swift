public import AppleStore
public import RelayCore
import StoreSignals

/// Reads stored notifications again.
public struct NotificationReader: Sendable {
    let policy: NotificationPolicy
    let isRelayed: PerPublisher<Bool>

    /// - Parameters:
    ///   - isRelayed: whether the notification is forwarded to Cleeng.
    public init(policy: NotificationPolicy, isRelayed: PerPublisher<Bool>) {
        self.policy = policy
        self.isRelayed = isRelayed
    }

    /// - Throws: ``ActRefusal/notGenuine(code:detail:)``, since the configuration may have changed since the
    ///   notification arrived.
    func read(_ body: [UInt8], of store: String) async throws -> StoreNotification {
        do {
            if let signal = StorePlatform(rawValue: store)?.signal { return try signal.init(body: body).notification }
            return try await policy.judge(try ServerNotification(body: body))
        } catch let refusal as SignalError {
            throw ActRefusal.notGenuine(code: "unreadable", detail: refusal.detail)
        } catch let refusal as NotGenuine {
            throw ActRefusal.notGenuine(code: refusal.code.rawValue, detail: refusal.detail)
        }
    }
}

extension Act<Void> {
    /// Processes a notification again, and forwards it to Cleeng again.
    public static func replay(notification id: NotificationID, _ reader: NotificationReader) -> Self {
        Act(.notificationReplayed, wakes: .notifications) { store, actor, _ in
            guard let (item, body) = try await store.ops.notification(id, in: actor.scope) else {
                throw ActRefusal.unknown(.notification)
            }
            try await store.ops.replay(
                item, try await reader.read(body.value, of: item.store),
                isRelayed: reader.isRelayed.isRelayed(for: item.publisher), by: actor.name)
            return ((), Record("\(id)", of: item.publisher))
        }
    }

    /// Queues an event of Cleeng for processing again, parked or not.
    public static func replay(event id: NotificationID) -> Self {
        Act(.eventReplayed) { store, actor, _ in
            guard let owner = try await store.ops.replayEvent(id, in: actor.scope) else {
                throw ActRefusal.unknown(.event)
            }
            return ((), Record("\(id)", of: owner.publisher))
        }
    }

    /// Makes a subscription due for evaluation now, parked or not.
    public static func replay(subscription name: SubscriptionName) -> Self {
        Act(.subscriptionReplayed) { store, actor, _ in
            guard try await store.ops.replaySubscription(name, in: actor.scope) else {
                throw ActRefusal.unknown(.subscription)
            }
            return ((), Record("\(name.environment)/\(name.originalTransactionID)", of: name.publisher))
        }
    }
}
