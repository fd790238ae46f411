import Relay
import RelayCore

/// The signals of a process: each wakes the loop that does one kind of work. A loop without work checks once and sleeps
/// again.
struct Signals: Sendable {
    let accounts: PerPublisher<Account>
    let customers = Wakeup()
    let events = Wakeup()
    let subscriptions = Wakeup()
    let webhooks = Wakeup()
    let questions = Wakeup()
    let consumption = Wakeup()
    /// Signalled when the health of a route to Cleeng has changed. Unlike the others, it announces no work.
    let health = Wakeup()

    init(accounts: PerPublisher<Account>) { self.accounts = accounts }

    func signal(_ work: DueWork) {
        switch work {
        case .purchases: for account in accounts.all { account.work.signal() }
        case .notifications: for account in accounts.all { account.notifications.signal() }
        case .customers: customers.signal()
        case .events: events.signal()
        case .subscriptions: subscriptions.signal()
        case .webhooks: webhooks.signal()
        case .questions: questions.signal()
        case .consumption: consumption.signal()
        }
    }
}
