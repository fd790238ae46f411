import Relay
import RelayCore
import Yams

extension SettingReader {
    /// Reads a value once for all publishers, and once more for each publisher with its own settings.
    ///
    /// - Throws: ``SettingError`` with the name of the publisher whose settings are invalid.
    func each<Value>(_ read: (SettingReader) throws -> Value) throws -> PerPublisher<Value> {
        let common = try read(self)
        guard let path = try text(.publishersFile) else {
            return PerPublisher(common, isElsewhere: roster.hasOwn)
        }
        var own: [PublisherID: Value] = [:]
        for (publisher, values) in try Self.publishers(inFile: path) {
            do {
                own[PublisherID(publisher)] = try read(SettingReader(own: values, common: self))
            } catch let error as SettingError {
                throw SettingError.ofPublisher(publisher, error)
            }
        }
        return PerPublisher(common, own: own, isElsewhere: roster.hasOwn)
    }

    /// Reads each publisher's settings from the file, as values by setting names with prefix.
    private static func publishers(inFile path: String) throws -> [(String, [String: String])] {
        let what = "the file that \(Setting.publishersFile.name) names"
        guard let root = try node(inFile: path, what) else { return [] }
        guard case .mapping(let mapping) = root else {
            throw SettingError.unreadable(what, why: "it must be a mapping of publishers' ids to their settings")
        }
        let known = Set(Setting.ofPublishers.flatMap(\.names))
        return try mapping.map { key, settings in
            guard let publisher = key.scalar?.string, PublisherID.isValid(publisher) else {
                throw SettingError.unreadable(what, why: "its keys must be publishers' ids: \(PublisherID.rule)")
            }
            guard settings.mapping != nil else {
                throw SettingError.ofPublisher(
                    publisher, .unreadable("its part", why: "it must be a mapping of settings"))
            }
            let values = try flatten(settings, under: "", what)
            for name in values.keys.sorted() where !known.contains(name) {
                let isShared = Setting.all.contains { $0.name == name }
                throw SettingError.ofPublisher(publisher, isShared ? .shared(name) : .unknown(name))
            }
            return (publisher, values)
        }
    }
}
