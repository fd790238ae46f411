import ArgumentParser
import Foundation

/// What several commands demand of their options.
enum OptionChecks {
    static func environment(_ name: String) throws {
        guard ["Production", "Sandbox"].contains(name) else {
            throw ValidationError("--environment is Production or Sandbox")
        }
    }

    static func transactionNumber(_ number: String?) throws {
        guard let number else { return }
        guard (1...32).contains(number.utf8.count), number.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw ValidationError("a transaction's number has 1 to 32 digits")
        }
    }

    static func url(_ text: String, of option: String = "--to") throws {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host()?.isEmpty == false
        else { throw ValidationError("\(option) is an http or https URL") }
    }
}
