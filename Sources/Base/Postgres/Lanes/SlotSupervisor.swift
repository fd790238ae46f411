import Logging

/// Keeps one slot of a lane filled: connects, serves, and reconnects after a loss.
struct SlotSupervisor: Sendable {
    let lane: any ConnectionLane
    let connector: PostgresConnector
    let slot: Int

    /// Returns when the task is cancelled, or at once if the connection string is invalid.
    func run() async {
        let settings = lane.settings
        var pause = ReconnectPause(settings.configuration.backoff)
        var failures = 0
        while !Task.isCancelled {
            guard let outcome = try? await connector.connect() else { return }
            switch outcome {
            case .success(let connection):
                failures = 0
                let time = await lane.serve(connection, slot)
                // A connection that is lost at once counts like one that could not be opened.
                if time > settings.configuration.backoff.max { pause.reset() }
            case .failure(let error):
                failures += 1
                report(error, failures, settings.logger)
                await lane.connectFailed(error)
                if error.code == .invalidConfiguration { return }
            }
            try? await Task.sleep(for: pause.next())
        }
    }

    /// Logs the first failure, and later ones at growing intervals.
    private func report(_ error: PostgresError, _ failures: Int, _ logger: Logger) {
        guard failures & (failures - 1) == 0 else { return }
        let level: Logger.Level = error.code == .invalidConfiguration ? .error : .warning
        logger.log(
            level: level, "cannot connect to PostgreSQL",
            metadata: ["slot": "\(slot)", "failures": "\(failures)", "error": "\(error.debugDescription)"])
    }
}
