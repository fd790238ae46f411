extension ChaosLoad {
    func buyOnAndOn(_ app: Int) async {
        for number in 0... {
            guard !isStopped else { return }
            let tag = number % 2 == 0 ? self.tag : ""
            let purchase = TestPurchase(email: "buyer-\(app)-\(number)\(tag)@example.test")
            async let twin = number % 3 == 0 ? buy(purchase, turn: app + number + 1) : nil
            await buy(purchase, turn: app + number)
            _ = await twin
            if number % 3 == 1 { await buy(purchase, turn: app + number + 1) }
            try? await Task.sleep(for: .milliseconds(300))
        }
    }

    /// Posts six requests for one subscription, then continues with the next subscription.
    func contestOnAndOn(_ app: Int) async {
        for number in 0... {
            guard !isContestOver else { return }
            let original = TestPurchase.newTransactionID()
            // With two customers, the requests alternate faster than the upstream grants.
            let (customers, tag) = app == 0 ? (2, "+after-900ms") : (4, "")
            func request(_ customer: Int) -> TestPurchase {
                TestPurchase(
                    email: "contest-\(app)-\(number)-\(customer)\(tag)@example.test", original: original,
                    transactionID: TestPurchase.newTransactionID())
            }
            var sequence: [String] = []
            for step in 0..<6 where !isContestOver {
                let purchase = request(step % customers)
                async let other = step == 2 && customers == 4 ? buy(request(3), turn: step + 1) : nil
                if let id = await buy(purchase, turn: app + step) { sequence.append(id) }
                _ = await other
                let isQuick = step % 2 == (customers == 2 ? 1 : 0)
                try? await Task.sleep(for: .milliseconds(isQuick ? 30 : 500))
            }
            note(sequence)
        }
    }
}
