import Relay
import TestSupport

extension Model.Plan {
    /// Makes the plan of a seed. The same seed and length give the same plan.
    init(seed: UInt64, length: Int) {
        var generator = Model.PlanGenerator(seed: seed)
        self.init(seed: seed, steps: generator.steps(length))
    }
}

extension Model {
    /// Makes random steps. There are few customers, subscriptions and receipts, so that requests often conflict.
    struct PlanGenerator {
        private var random: SeededGenerator
        private let customers: Int
        private let subscriptions: Int
        private let receipts: Int
        private var posted: [Purchase] = []
        private var isTroubled = false
        private var crashesLeft: Int
        /// Whether Cleeng grants at once. Then no slow grant gives a subscription back to an older request.
        private let isPrompt: Bool

        private static let behaviours: [(weight: Int, names: [String])] = [
            (30, ["after-0"]), (14, ["after-400ms"]), (8, ["after-1200ms"]), (10, ["late-3s"]), (7, ["never"]),
            (4, ["cancelled", "after-0"]), (6, ["reject"]), (5, ["reject-422-1", "after-0"]),
            (6, ["flaky-2", "after-0"]), (3, ["flaky-1", "after-400ms"]), (4, ["throttled-1-bare", "after-0"]),
            (4, ["lost-answer-1", "after-200ms"]), (3, ["reset-1", "after-0"]), (3, ["unauthorized-2", "after-0"]),
            (3, ["hang-1", "after-0"]), (4, ["slow-300ms", "after-0"]), (3, ["slow-500ms", "after-400ms"]),
            (3, ["read-500-2", "after-0"]), (3, ["garbage-1", "after-0"]), (4, ["read-slow-400ms", "after-0"]),
            (2, ["read-reset-2", "after-400ms"]),
        ]

        private static let troubles = [
            ["down"], ["flaky"], ["reset"], ["unauthorized"], ["throttled-4"], ["slow-300ms"], ["read-500"],
            ["read-slow-300ms"], ["lost-answer-2"], ["hang-3"], ["notfound-3"],
        ]

        /// Milliseconds after which a frozen copy has lost its leases.
        static let pastLease = Int(PursuitSettings.standardLease.components.seconds) * 1_000 + 300

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
            customers = Int.random(in: 2...4, using: &random)
            subscriptions = Int.random(in: 1...3, using: &random)
            receipts = Int.random(in: 1...2, using: &random)
            isPrompt = Bool.random(using: &random)
            crashesLeft = 0
        }

        mutating func steps(_ length: Int) -> [Step] {
            crashesLeft = number(below: 3) + length / 30
            var steps = (0..<customers).map { Step(after: 0, action: behave($0)) }
            while steps.count < customers + length { steps += next() }
            if isTroubled { steps.append(Step(after: 300, action: .heal)) }
            return steps
        }

        private mutating func next() -> [Step] {
            switch number(below: 100) {
            case ..<40: [Step(after: pause(), action: post(fresh(), key: nil))]
            case ..<52: [Step(after: pause(), action: post(known(), key: nil))]
            case ..<62: [Step(after: pause(), action: post(chance(70) ? known() : fresh(), key: number(below: 3)))]
            case ..<70: [Step(after: pause(), action: behave(number(below: customers)))]
            case ..<77: [Step(after: pause(), action: disturb())]
            case ..<84 where crashesLeft > 0: crash()
            case ..<89: [Step(after: pause(), action: .retry(known(), via: copy()))]
            case ..<93: abandon()
            default: [Step(after: pause(), action: .pass)]
            }
        }

        /// Posts to a copy, then kills, stops or freezes it while it works on them.
        private mutating func crash() -> [Step] {
            crashesLeft -= 1
            let slot = copy()
            var steps = (0..<(1 + number(below: 3))).map { index in
                Step(after: index == 0 ? pause() : 0, action: post(fresh(), key: nil, via: slot))
            }
            let removal: Action =
                switch number(below: 100) {
                case ..<40: .kill(copy: slot)
                case ..<60: .stop(copy: slot)
                default: .freeze(copy: slot, milliseconds: Self.pastLease + number(below: 1_200))
                }
            steps.append(Step(after: number(below: 60), action: removal))
            return steps
        }

        /// Abandons a known purchase, or, half the time, a new one that may be on its way upstream.
        private mutating func abandon() -> [Step] {
            guard chance(50) else { return [Step(after: pause(), action: .abandon(known(), via: copy()))] }
            let purchase = fresh()
            return [
                Step(after: pause(), action: post(purchase, key: nil)),
                Step(after: 20 + number(below: 80), action: .abandon(purchase, via: copy())),
            ]
        }

        private mutating func post(_ purchase: Purchase, key: Int?, via slot: Int? = nil) -> Action {
            posted.append(purchase)
            let copies = chance(12) ? 2 + number(below: 4) : 1
            return .post(purchase, via: slot ?? copy(), key: key, copies: copies)
        }

        private mutating func disturb() -> Action {
            isTroubled.toggle()
            return isTroubled ? .trouble(Self.troubles[number(below: Self.troubles.count)]) : .heal
        }

        private mutating func behave(_ customer: Int) -> Action {
            var left = number(below: Self.behaviours.map(\.weight).reduce(0, +))
            for behaviour in Self.behaviours {
                left -= behaviour.weight
                guard left < 0 else { continue }
                let names = behaviour.names.map { isPrompt ? prompt($0) : $0 }
                return .behave(customer: customer, names)
            }
            return .behave(customer: customer, ["never"])
        }

        private func prompt(_ name: String) -> String {
            name.hasPrefix("after-") || name.hasPrefix("late-") ? "after-0" : name
        }

        private mutating func fresh() -> Purchase {
            Purchase(
                customer: number(below: customers), subscription: number(below: subscriptions),
                receipt: number(below: receipts))
        }

        private mutating func known() -> Purchase {
            posted.isEmpty ? fresh() : posted[number(below: posted.count)]
        }

        private mutating func pause() -> Int {
            switch number(below: 100) {
            case ..<30: 0
            case ..<70: 20 + number(below: 150)
            case ..<94: 200 + number(below: 500)
            default: 900 + number(below: 1_200)
            }
        }

        private mutating func copy() -> Int { number(below: 2) }
        private mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
        private mutating func chance(_ percent: Int) -> Bool { number(below: 100) < percent }
    }
}
