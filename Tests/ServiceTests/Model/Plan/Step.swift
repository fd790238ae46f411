extension Model {
    enum Action: Sendable, Equatable {
        /// Sends `copies` requests at once. A key is sent as Idempotency-Key, always with the same body.
        case post(Purchase, via: Int, key: Int?, copies: Int)
        /// Sets Cleeng's behaviour towards this customer.
        case behave(customer: Int, [String])
        case trouble([String])
        case heal
        /// Sends SIGKILL and starts another copy.
        case kill(copy: Int)
        /// Sends SIGTERM and starts another copy.
        case stop(copy: Int)
        /// Sends SIGSTOP, and SIGCONT after the leases have expired. The copy then still believes that it holds them.
        case freeze(copy: Int, milliseconds: Int)
        case retry(Purchase, via: Int)
        case abandon(Purchase, via: Int)
        case pass
    }

    struct Step: Sendable, Equatable {
        /// Milliseconds after the step before.
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
    /// One line for each step, with its time.
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
