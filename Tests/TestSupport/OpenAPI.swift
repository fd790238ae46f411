import Foundation
import Yams

/// `openapi.yaml`, to compare messages with their description.
public struct OpenAPI {
    private struct Missing: Error { var reference: String }

    private let root: Node

    /// - Throws: if the file cannot be read or is not YAML.
    public init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "openapi.yaml")
        guard let root = try Yams.compose(yaml: String(contentsOf: file, encoding: .utf8)) else {
            throw Missing(reference: "openapi.yaml")
        }
        self.root = root
    }

    /// The schema of the request body of an outgoing webhook.
    public func webhook(_ name: String) throws -> String {
        let path = ["webhooks", name, "post", "requestBody", "content", "application/json", "schema", "$ref"]
        guard let reference = node(path)?.string else { throw Missing(reference: name) }
        return String(reference.split(separator: "/").last ?? "")
    }

    /// The names of the outgoing webhooks.
    public var webhooks: [String] {
        root["webhooks"]?.mapping?.keys.compactMap(\.string).sorted() ?? []
    }

    /// Fields of a component's schema: all described ones, and the required ones.
    public func fields(of schema: String) -> (all: Set<String>, required: Set<String>) {
        let node = node(["components", "schemas", schema])
        return (
            Set(node?["properties"]?.mapping?.keys.compactMap(\.string) ?? []),
            Set(node?["required"]?.sequence?.compactMap(\.string) ?? [])
        )
    }

    /// Differences between a JSON text and a component's schema; empty if there are none.
    public func problems(of json: String, as schema: String) throws -> [String] {
        // JSON is also YAML.
        guard let value = try Yams.compose(yaml: json), let node = node(["components", "schemas", schema]) else {
            throw Missing(reference: schema)
        }
        return problems(value, node, at: "")
    }

    private func node(_ path: [String]) -> Node? { path.reduce(Node?.some(root)) { $0?[$1] } }

    private func problems(_ value: Node, _ schema: Node, at path: String) -> [String] {
        if let reference = schema["$ref"]?.string {
            guard let target = node(reference.split(separator: "/").dropFirst().map(String.init)) else {
                return ["\(path): no \(reference)"]
            }
            return problems(value, target, at: path)
        }
        var found: [String] = []
        let text = value.scalar?.string ?? ""
        if let constant = schema["const"], !Self.equal(value, constant) { found.append("\(path): is \(text)") }
        if let choices = schema["enum"]?.sequence, !choices.contains(where: { Self.equal(value, $0) }) {
            found.append("\(path): \(text) is none of the choices")
        }
        if let pattern = schema["pattern"]?.string, let regex = try? Regex(pattern), Self.type(value) == "string",
            text.firstMatch(of: regex) == nil
        {
            found.append("\(path): \(text) does not match")
        }
        if let wanted = schema["type"] {
            let types = wanted.sequence?.compactMap(\.string) ?? [wanted.string ?? ""]
            let isRight = types.contains(Self.type(value)) || (types == ["number"] && Self.type(value) == "integer")
            if !isRight { found.append("\(path): is of the type \(Self.type(value))") }
        }
        if let items = value.sequence {
            if let most = schema["maxItems"]?.int, items.count > most { found.append("\(path): too many") }
            if let each = schema["items"] {
                for (index, item) in items.enumerated() { found += problems(item, each, at: "\(path)[\(index)]") }
            }
        }
        if let object = value.mapping { found += members(object, schema, at: path) }
        return found
    }

    private func members(_ object: Node.Mapping, _ schema: Node, at path: String) -> [String] {
        var found: [String] = []
        for name in schema["required"]?.sequence?.compactMap(\.string) ?? [] where object[name] == nil {
            found.append("\(path).\(name): is missing")
        }
        for (key, value) in object {
            let name = key.string ?? ""
            if let one = schema["properties"]?[name] {
                found += problems(value, one, at: "\(path).\(name)")
            } else if let any = schema["additionalProperties"], any.mapping != nil {
                found += problems(value, any, at: "\(path).\(name)")
            } else {
                // Stricter than a schema: every sent field must be described.
                found.append("\(path).\(name): is not described")
            }
        }
        return found
    }

    /// The type's name in JSON Schema.
    private static func type(_ node: Node) -> String {
        if node.mapping != nil { return "object" }
        if node.sequence != nil { return "array" }
        switch node.tag {
        case Tag(.bool): return "boolean"
        case Tag(.int): return "integer"
        case Tag(.float): return "number"
        case Tag(.null): return "null"
        default: return "string"
        }
    }

    private static func equal(_ value: Node, _ wanted: Node) -> Bool {
        switch type(value) {
        case "integer", "number": value.float == wanted.float
        case let kind: kind == type(wanted) && value.scalar?.string == wanted.scalar?.string
        }
    }
}
