import AppStoreSimulation
import Foundation
import NIOHTTP1
import ServiceLifecycle
import SimulatorKit

/// Posts the requested test notifications once each, like the sandbox.
struct TestSender: Service {
    let api: LockedService<SimulatedServerAPI>
    /// Yields after every call.
    let calls: AsyncStream<Void>

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for await _ in calls {
                    for order in api.update({ $0.tests.takeWaiting() }) { group.addTask { await post(order) } }
                }
                group.cancelAll()
            }
        }
    }

    private func post(_ order: TestNotifications.Order) async {
        let status = await HTTPCall.send(.POST, order.body, to: order.url)
        let attempt = SendAttempt(
            attemptDate: api.now().wholeMilliseconds, sendAttemptResult: SendAttempt.Result(status: status))
        api.update { $0.tests.end(order, attempt) }
    }
}
