import Foundation
import NIOHTTP1
import RelayCore

extension Model {
    /// A client that polls one validation until the sequence ends. It asks whichever copy runs in its slot.
    struct Follower: Sendable {
        let id: String
        let name: String
        let kind: Sighting.Kind
        let slot: Int
        let world: World

        /// Three clients for each validation: one plain, one conditional at the other copy, and one that holds its poll
        /// or streams.
        static func several(for id: String, ordinal: Int, world: World) -> [Follower] {
            let first = ordinal % 2
            let third: (kind: Sighting.Kind, slot: Int) = (ordinal / 2 % 2 == 0 ? .held : .stream, ordinal / 4 % 2)
            let kinds = [(kind: .plain, slot: first), (kind: .conditional, slot: 1 - first), third]
            return kinds.map {
                Follower(id: id, name: "\($0.kind.rawValue)-\(ordinal)", kind: $0.kind, slot: $0.slot, world: world)
            }
        }

        func run() async {
            var known: [String: Sighting] = [:]
            var tag: String?
            while !Task.isCancelled {
                guard let relay = await world.copy(slot) else {
                    try? await Task.sleep(for: .milliseconds(20))
                    continue
                }
                if kind == .stream { return await stream(relay) }
                let sentAt = world.journal.now
                let seen = await look(relay, sentAt, &tag, &known)
                if let last = world.journal.lastLook, sentAt >= last { return }
                try? await Task.sleep(for: .milliseconds(seen?.status == .pending ? 80 : 250))
            }
        }

        private func look(
            _ relay: Relay, _ sentAt: Seconds, _ tag: inout String?, _ known: inout [String: Sighting]
        ) async -> Sighting? {
            var headers: [String: String] = [:]
            if kind != .plain, let tag { headers["If-None-Match"] = tag }
            if kind == .held { headers["Prefer"] = "wait=1" }
            let answer = try? await AppClient.call(.GET, relay, "/entitlements/\(id)", headers: headers)
            var sighting: Sighting?
            if let answer, answer.status == 200 {
                sighting = saw(answer.json, relay, sentAt)
            } else if let answer, answer.status == 304, let named = answer.header("ETag"), var same = known[named] {
                // 304 means the status that came with this tag.
                (same.copy, same.sentAt, same.at) = (relay.process.pid, sentAt, world.journal.now)
                sighting = same
            }
            guard let sighting else {
                miss(relay, sentAt, answer?.status)
                return nil
            }
            world.journal.note { $0.sightings.append(sighting) }
            if let named = answer?.header("ETag") {
                tag = named
                known[named] = sighting
            }
            return sighting
        }

        private func stream(_ relay: Relay) async {
            let sentAt = world.journal.now
            var isFinal = false
            _ = try? await EventStreamReader.read(relay, id, by: AppClient.client) { event in
                guard let sighting = saw(event.json, relay, sentAt) else { return }
                isFinal = sighting.status.isFinalForPolling
                world.journal.note { $0.sightings.append(sighting) }
            }
            if !isFinal { miss(relay, sentAt, nil) }
        }

        private func saw(_ json: JSON, _ relay: Relay, _ sentAt: Seconds) -> Sighting? {
            Sighting(
                id: id, client: name, kind: kind, relay: relay, sentAt: sentAt, json: json, journal: world.journal)
        }

        private func miss(_ relay: Relay, _ sentAt: Seconds, _ status: Int?) {
            let miss = Miss(
                id: id, copy: relay.process.pid, sentAt: sentAt, at: world.journal.now, status: status)
            world.journal.note { $0.misses.append(miss) }
        }
    }
}
