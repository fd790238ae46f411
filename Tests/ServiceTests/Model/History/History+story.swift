import RelayCore

extension Model.History {
    /// All events of one validation by time, one line each. A client's polls are listed only if the status is new to
    /// it.
    func story(of id: String) -> String {
        var lines: [(at: Model.Seconds, text: String)] = []
        func tell(_ at: Model.Seconds, _ text: String) { lines.append((at, text)) }
        let coupon = rows.first { $0.id == id }?.coupon
        for post in posts {
            guard case .accepted(id, let status) = post.answer else { continue }
            tell(post.sentAt, "posted to \(post.copy): \(status) at \(format(post.answeredAt))")
        }
        for forward in forwards where forward.coupon == coupon {
            let end = forward.endedAt.map(format) ?? "-"
            let status = forward.status.map(String.init) ?? "no status"
            tell(forward.startedAt, "forwarded: \(status), \(forward.outcome) at \(end)")
        }
        for event in events where event.id == id {
            tell(event.at, "timeline: \(event.kind.name), recorded \(format(event.recordedAt))")
        }
        for act in acts where act.id == id {
            tell(act.sentAt, "operator: \(act.kind.rawValue), \(act.status.map(String.init) ?? "no answer")")
        }
        var known: [String: ValidationStatus] = [:]
        for sighting in sightings where sighting.id == id && sighting.kind != .post {
            let client = "\(sighting.client) of \(sighting.copy)"
            guard known[client] != sighting.status else { continue }
            known[client] = sighting.status
            tell(sighting.at, "\(client): \(sighting.status.name) (asked \(format(sighting.sentAt)))")
        }
        let head =
            rows.first { $0.id == id }.map { row in
                "\(row.purchase) \(id) accepted \(format(row.acceptedAt)) deadline \(format(row.deadline)): "
                    + "\(row.status.name)\(row.reason.map { " (\($0))" } ?? "")"
            } ?? "\(id): no row"
        return ([head] + lines.sorted { $0.at < $1.at }.map { "    \(format($0.at))  \($0.text)" })
            .joined(separator: "\n")
    }

    /// Events of the simulator and of the copies, for all validations.
    var surroundings: String {
        var lines: [(at: Model.Seconds, text: String)] = []
        for grant in grants { lines.append((grant.at, "Cleeng grants s\(grant.subscription) to c\(grant.customer)")) }
        for copy in copies {
            lines.append((copy.readyAt, "copy \(copy.slot) is ready as \(copy.pid)"))
            if let gone = copy.goneAt { lines.append((gone, "\(copy.pid) is killed or told to go")) }
        }
        for freeze in freezes {
            lines.append((freeze.from, "\(freeze.pid) is frozen until \(format(freeze.to))"))
        }
        for transfer in transfers {
            lines.append(
                (transfer.at, "transfer of s\(transfer.subscription) from c\(transfer.from) to c\(transfer.to)"))
        }
        return lines.sorted { $0.at < $1.at }.map { "    \(format($0.at))  \($0.text)" }.joined(separator: "\n")
    }

    private func format(_ seconds: Model.Seconds) -> String {
        let milliseconds = Int((seconds * 1_000).rounded())
        let fraction = String(abs(milliseconds) % 1_000 + 1_000).dropFirst()
        return "\(milliseconds < 0 ? "-" : "")\(abs(milliseconds) / 1_000).\(fraction)"
    }
}
