import Foundation

/// One row of the grid: a fault, and the results of all purchases around it.
struct ChaosRow: Sendable {
    let strike: Strike
    var judgement: Judgement?
    var posts = 0
    /// Time from the end of the fault until a purchase posted after it was granted.
    var fresh: Duration?
    /// Time from the end of the fault until everything accepted before it was granted.
    var all: Duration?
    var violations: [String] = []
    /// Whether ``all`` is over its limit.
    private(set) var isSlow = false
    /// Reason why it was not run.
    var skipped: String?

    /// Runs one row. Never throws: an error that ends the row is one of its violations.
    static func run(_ strike: Strike, _ settings: ChaosSettings, calm: PrivateCluster) async -> ChaosRow {
        var row = ChaosRow(strike: strike)
        guard !strike.needsCompiler || PreloadedLibrary.compiler != nil else {
            row.skipped = "there is no C compiler here to make its library with"
            return row
        }
        do {
            switch strike.ground {
            case .shared: try await row.play(settings, in: calm)
            case .own, .ownDisk:
                let cluster = try await PrivateCluster(disk: strike.ground == .ownDisk)
                do {
                    try await row.play(settings, in: cluster)
                } catch {
                    row.violations.append("broken off: \(error)")
                }
                await cluster.end()
            case .pair: try await ServerPair.run { try await row.play(settings, in: calm, $0) }
            }
        } catch {
            row.violations.append("broken off: \(error)")
        }
        return row
    }

    private mutating func play(
        _ settings: ChaosSettings, in cluster: PrivateCluster, _ pair: ServerPair? = nil
    ) async throws {
        var copy = self
        let patience = settings.appPatience(strike)
        let database = if let pair { pair.database } else { try await cluster.database() }
        try await BadDay.run(
            on: database,
            settings: [
                "RELAY_VALIDATION_TIMEOUT_SECONDS": "\(patience.components.seconds)", "RELAY_LOG_LEVEL": "notice",
                "RELAY_DATABASE_CONNECTIONS": "2", "RELAY_UPSTREAM_TIMEOUT_SECONDS": "\(strike.upstreamTimeout)",
            ]
        ) { day in
            let scene = try await ChaosScene(day, cluster: cluster, pair: pair, strike: copy.strike)
            let row = copy
            if copy.strike.faults.contains(.snapshotHeld) {
                copy = try await HeldSnapshot.during(day.database) { try await row.played(settings, scene) }
            } else {
                copy = try await row.played(settings, scene)
            }
        }
        self = copy
    }

    private func played(_ settings: ChaosSettings, _ scene: ChaosScene) async throws -> ChaosRow {
        var row = self
        let length = settings.length(of: strike)
        let limit = settings.settlingLimit(strike)
        let ((struck, fresh), load) = try await ChaosLoad.during(scene, tag: strike.tagBefore, patience: limit) {
            load in
            try await load.accepted(25)
            load.endTag()
            let struck = try await strike.hit(scene) { settings.length(of: $0) }
            load.endContests()
            return (struck, await Self.buyOne(scene, load, since: struck.at, within: limit))
        }
        do {
            try await Self.rest(scene, within: limit)
        } catch {
            row.violations.append("\(error)")
        }
        let evidence = try await Evidence(load, scene)
        let judgement = Judgement(evidence)
        row.posts = evidence.posts
        row.judgement = judgement
        row.violations += judgement.violations
        row.fresh = fresh
        let last = Self.lastGrant(evidence, since: struck.at)
        row.all = last?.after
        row.judgeTimes(struck, length: length, isAlone: settings.isFull)
        let late = row.isSlow ? last.map { [$0.purchase.subscription] } ?? [] : []
        for subscription in judgement.disputed.union(late).sorted() {
            row.violations.append(try await Self.timelines(of: subscription, in: scene.day.database))
        }
        if !row.violations.isEmpty { try settings.keepLogs(of: scene, strike) }
        return row
    }

    /// Checks how long recovery took. The ten seconds after a kill are a lease, and then up to four requests for one
    /// subscription in sequence, each within a second. A fresh purchase waits for no lease. If the machine is so busy
    /// that a fresh one takes longer than a second, the four may take longer too.
    ///
    /// - Parameter isAlone: whether no other tests share the machine.
    private mutating func judgeTimes(_ struck: Struck, length: Duration, isAlone: Bool) {
        // Beside other tests a time shows the machine's load. The table has it, and only a purchase that is never granted
        // is a fault.
        guard isAlone else {
            if fresh == nil { violations.append("a purchase after the fault was never granted") }
            return
        }
        let limit = strike.recoveryLimit(after: length)
        let busy = .seconds(6) + (fresh ?? .zero) * 4
        if let all, all > max(limit, busy) {
            isSlow = true
            violations.append("what was accepted before was granted only \(all) after the fault")
        }
        let patience = Duration.seconds(10)
        if fresh.map({ $0 > patience + struck.startTook + strike.noticedAfter }) ?? true {
            violations.append("a purchase after the fault was not granted in time: \(fresh.map { "\($0)" } ?? "never")")
        }
    }

    /// Time from the end of the fault until a purchase posted now is granted; `nil` if that exceeds the limit.
    private static func buyOne(
        _ scene: ChaosScene, _ load: ChaosLoad, since end: Date, within limit: Duration
    ) async -> Duration? {
        guard let id = await load.buy(TestPurchase(email: "afterwards@example.test"), turn: 0) else { return nil }
        let granted = try? await Awaiting.fact("a purchase after the fault is granted", is: "granted", within: limit) {
            guard let front = scene.front(0) else { return "no copy is alive" }
            return try await AppClient.poll(id, of: front, wait: 10).json["status"].string ?? ""
        }
        return granted.map { _ in .seconds(Date().timeIntervalSince(end)) }
    }
}
