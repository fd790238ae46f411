import AppStoreSimulation
import ArgumentParser

/// `1,2,4`: seconds between attempts. An empty text is for none.
struct RetrySeconds: ExpressibleByArgument {
    let schedule: DeliverySchedule

    init?(argument: String) {
        let texts = argument.isEmpty ? [] : argument.split(separator: ",", omittingEmptySubsequences: false)
        let seconds = texts.compactMap { Double($0) }.filter { (0...31_536_000).contains($0) }
        guard seconds.count == texts.count else { return nil }
        schedule = DeliverySchedule(waits: seconds.map { Duration.seconds($0) })
    }
}
