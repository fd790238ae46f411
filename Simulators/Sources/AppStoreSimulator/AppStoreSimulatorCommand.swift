import ArgumentParser

/// `app-store-simulator`: signs documents like the App Store, with its own authorities, and posts them.
package struct AppStoreSimulatorCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "app-store-simulator",
        abstract:
            "A stand-in for the App Store: receipts, signed transactions, notifications and the Server API, for tests and demonstrations.",
        discussion: """
            Nobody trusts its roots without a setting: name roots.pem in RELAY_APPLE_EXTRA_ROOTS, and never in
            production.
            """,
        subcommands: [
            CreateRoots.self, SignTransaction.self, SignReceipt.self, SignNotification.self, Notify.self, Play.self,
            CreateAPIKey.self, ServeAPI.self,
        ])

    package init() {}
}
