internal import ImageEngine
internal import JSONRPC

/// The rules that remove query parameters from keys that are URLs.
struct KeyRules: SettingValue, Equatable {
    let rules: [KeyRule]

    static var schema: JSONLiteral {
        [
            "type": "array",
            "items": [
                "type": "object",
                "properties": [
                    "hosts": HostPatterns.schema, "keepQuery": TextList.schema, "dropQuery": TextList.schema,
                ],
                "additionalProperties": false,
            ],
        ]
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> KeyRules {
        KeyRules(
            rules: try readObjects(view, "a list of rules such as {\"dropQuery\": [\"X-Amz-*\"]}") {
                (view) throws(Mismatch) in
                var rule = KeyRule()
                try readMembers(of: view) { (name, value) throws(Mismatch) in
                    switch name {
                    case "hosts": rule.hosts = try HostPatterns.decode(value).hosts
                    case "keepQuery": rule.keepQuery = try TextList.decode(value).texts
                    case "dropQuery": rule.dropQuery = try TextList.decode(value).texts
                    default: throw .unknown(name, among: ["hosts", "keepQuery", "dropQuery"], what: "member")
                    }
                }
                guard rule.keepQuery != nil || !rule.dropQuery.isEmpty else {
                    throw .expected("an object with keepQuery or dropQuery", view)
                }
                return rule
            })
    }

    var literal: JSONLiteral {
        .array(
            rules.map { rule in
                var members: [(String, JSONLiteral)] = []
                if !rule.hosts.isEmpty { members.append(("hosts", .texts(rule.hosts))) }
                if let names = rule.keepQuery { members.append(("keepQuery", .texts(names))) }
                if !rule.dropQuery.isEmpty { members.append(("dropQuery", .texts(rule.dropQuery))) }
                return .object(members)
            })
    }
}
