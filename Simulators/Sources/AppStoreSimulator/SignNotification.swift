import ArgumentParser
import Foundation

/// `app-store-simulator sign-notification --roots FOLDER --type TYPE`
struct SignNotification: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-notification", abstract: "Writes the body of a version 2 notification.")

    @OptionGroup var notification: NotificationOptions

    func run() throws {
        print(
            String(decoding: try notification.sign(notification.notification(at: Date())), as: UTF8.self),
            terminator: "")
    }
}
