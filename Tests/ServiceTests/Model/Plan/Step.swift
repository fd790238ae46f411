extension Model {
    enum Action: Sendable, Equatable {
        /// Sent `copies` times at once. A key makes it a request under that Idempotency-Key, always with the same body.
        case post(Purchase, via: Int, key: Int?, copies: Int)
        /// What Cleeng does with this customer from now on.
        case behave(customer: Int, [String])
        case trouble([String])
        case heal
        /// SIGKILL, and another copy is started in its place.
        case kill(copy: Int)
        /// SIGTERM, and another copy is started in its place.
        case stop(copy: Int)
        /// SIGSTOP, and SIGCONT when its leases have run out: it wakes believing that it holds what others have by now.
        case freeze(copy: Int, milliseconds: Int)
        case retry(Purchase, via: Int)
        case abandon(Purchase, via: Int)
        case pass
    }

    struct Step: Sendable, Equatable {
        /// How long after the step before, in milliseconds.
        var after: Int
        var action: Action
    }

    struct Plan: Sendable, Equatable {
        var seed: UInt64
        var steps: [Step]
    }
}

extension Model.Action: CustomStringConvertible {
    var description: String {
        switch self {
        case .post(let purchase, let copy, let key, let copies):
            "post \(purchase) to copy \(copy)\(key.map { " under key \($0)" } ?? "")\(copies > 1 ? " ×\(copies)" : "")"
        case .behave(let customer, let behaviours):
            "upstream treats c\(customer) as \(behaviours.joined(separator: "+"))"
        case .trouble(let behaviours): "upstream trouble: \(behaviours.joined(separator: "+"))"
        case .heal: "upstream is well"
        case .kill(let copy): "kill -9 copy \(copy)"
        case .stop(let copy): "stop copy \(copy)"
        case .freeze(let copy, let milliseconds): "freeze copy \(copy) for \(milliseconds) ms"
        case .retry(let purchase, let copy): "operator retries \(purchase) at copy \(copy)"
        case .abandon(let purchase, let copy): "operator abandons \(purchase) at copy \(copy)"
        case .pass: "time passes"
        }
    }
}

extension Model.Plan: CustomStringConvertible {
    /// One line a step, with the time at which it is due.
    var description: String {
        var at = 0
        let lines = steps.map { step in
            at += step.after
            let time = "\(at / 1_000).\(String(at % 1_000 + 1_000).dropFirst())"
            return String(repeating: " ", count: max(0, 9 - time.count)) + "\(time)  \(step.action)"
        }
        return (["plan of seed \(seed), \(steps.count) steps"] + lines).joined(separator: "\n")
    }
}
