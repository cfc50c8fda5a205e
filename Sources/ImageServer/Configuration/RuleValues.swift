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
            rules: try objects(view, "a list of rules such as {\"dropQuery\": [\"X-Amz-*\"]}") {
                (view) throws(Mismatch) in
                var rule = KeyRule()
                try members(of: view) { (name, value) throws(Mismatch) in
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
                if !rule.hosts.isEmpty { members.append(("hosts", texts(rule.hosts))) }
                if let names = rule.keepQuery { members.append(("keepQuery", texts(names))) }
                if !rule.dropQuery.isEmpty { members.append(("dropQuery", texts(rule.dropQuery))) }
                return .object(members)
            })
    }
}

/// The headers, credentials and certificates that are added to requests, by host.
struct HostRules: SettingValue {
    let rules: [HostRule]

    static var schema: JSONLiteral {
        [
            "type": "array",
            "items": [
                "type": "object",
                "properties": [
                    "hosts": HostPatterns.schema, "headers": HeaderFields.schema, "authorization": Authorization.schema,
                    "clientCertificate": AbsolutePath.schema, "clientKey": AbsolutePath.schema,
                ],
                "required": ["hosts"], "additionalProperties": false,
            ],
        ]
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> HostRules {
        HostRules(
            rules: try objects(view, "a list of rules such as {\"hosts\": [\"example.com\"], \"headers\": {…}}") {
                (view) throws(Mismatch) in
                var rule = HostRule(hosts: [])
                var (certificate, key): (String?, String?)
                try members(of: view) { (name, value) throws(Mismatch) in
                    switch name {
                    case "hosts": rule.hosts = try HostPatterns.decode(value).hosts
                    case "headers": rule.headers = try HeaderFields.decode(value).fields
                    case "authorization": rule.authorization = try Authorization.decode(value)
                    case "clientCertificate": certificate = try AbsolutePath.decode(value).text
                    case "clientKey": key = try AbsolutePath.decode(value).text
                    default:
                        throw .unknown(
                            name, among: ["hosts", "headers", "authorization", "clientCertificate", "clientKey"],
                            what: "member")
                    }
                }
                guard !rule.hosts.isEmpty else { throw .expected("an object with hosts", view) }
                rule.certificate = certificate.map { ClientCertificate(file: $0, key: key) }
                return rule
            })
    }

    /// The rules with `…` in the place of secrets, which are never shown.
    var literal: JSONLiteral {
        .array(
            rules.map { rule in
                var members: [(String, JSONLiteral)] = [("hosts", texts(rule.hosts))]
                if !rule.headers.isEmpty {
                    members.append(("headers", .object(rule.headers.keys.sorted().map { ($0, hidden) })))
                }
                switch rule.authorization {
                case .basic(let user, _):
                    members.append(("authorization", ["basic": ["user": .string(user), "password": hidden]]))
                case .bearer: members.append(("authorization", ["bearer": hidden]))
                case nil: break
                }
                if let certificate = rule.certificate {
                    members.append(("clientCertificate", .string(certificate.file)))
                    if let key = certificate.key { members.append(("clientKey", .string(key))) }
                }
                return .object(members)
            })
    }
}

/// The rules that replace the beginnings of URLs.
struct URLRewrites: SettingValue {
    let rewrites: [URLRewrite]

    static var schema: JSONLiteral {
        let url: JSONLiteral = ["type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]"]
        return [
            "type": "array",
            "items": [
                "type": "object", "properties": ["from": url, "to": url], "required": ["from", "to"],
                "additionalProperties": false,
            ],
        ]
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> URLRewrites {
        URLRewrites(
            rewrites: try objects(view, "a list of {\"from\": …, \"to\": …}") { (view) throws(Mismatch) in
                var texts: [String: String] = [:]
                try members(of: view) { (name, value) throws(Mismatch) in
                    guard ["from", "to"].contains(name) else {
                        throw .unknown(name, among: ["from", "to"], what: "member")
                    }
                    texts[name] = try String.decode(value)
                }
                guard let from = texts["from"], let to = texts["to"], let rewrite = URLRewrite(from: from, to: to)
                else { throw .expected("from and to, both the beginning of an http or https URL", view) }
                return rewrite
            })
    }

    var literal: JSONLiteral {
        .array(rewrites.map { ["from": .string($0.from), "to": .string($0.to)] })
    }
}

/// The hosts that a rule applies to.
private struct HostPatterns: WireValue {
    let hosts: [String]

    static var schema: JSONLiteral { ["type": "array", "items": ["type": "string", "minLength": 1], "minItems": 1] }

    static func decode(_ view: JSONView) throws(Mismatch) -> HostPatterns {
        let hosts = try TextList.decode(view).texts
        guard !hosts.isEmpty else { throw .expected("a list of hosts", view) }
        for (index, host) in hosts.enumerated() where !HostPattern.isValid(host) {
            throw Mismatch(
                path: "\(index)", message: "must be a host such as example.com or *.example.com, not a URL",
                expected: "a host such as example.com or *.example.com", received: "other text")
        }
        return HostPatterns(hosts: hosts)
    }
}

/// The text shown in the place of a secret.
private let hidden: JSONLiteral = "…"

private func texts(_ list: [String]) -> JSONLiteral { .array(list.map { .string($0) }) }

/// Reads a list of objects, each with `read`.
private func objects<Value>(
    _ view: JSONView, _ expected: String, _ read: (JSONView) throws(Mismatch) -> Value
) throws(Mismatch) -> [Value] {
    guard view.kind == .array else { throw .expected(expected, view) }
    var values: [Value] = []
    for index in 0..<view.count {
        guard let element = view.element(index) else { continue }
        do throws(Mismatch) {
            guard element.kind == .object else { throw .expected("an object", element) }
            values.append(try read(element))
        } catch { throw error.within("\(index)") }
    }
    return values
}

/// Calls `read` for each member of an object that is not null.
private func members(
    of view: JSONView, _ read: (String, JSONView) throws(Mismatch) -> Void
) throws(Mismatch) {
    try view.forEachMember { (name, value) throws(Mismatch) in
        let name = String(decoding: name, as: UTF8.self)
        if isIgnored(name) || value.isNull { return }
        do throws(Mismatch) { try read(name, value) } catch  where error.path == name && error.expected == nil {
            // The error for an unknown member already names it.
            throw error
        } catch { throw error.within(name) }
    }
}
