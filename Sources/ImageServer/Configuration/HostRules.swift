internal import ImageEngine
internal import JSONRPC

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
            rules: try readObjects(view, "a list of rules such as {\"hosts\": [\"example.com\"], \"headers\": {…}}") {
                (view) throws(Mismatch) in
                var rule = HostRule(hosts: [])
                var (certificate, key): (String?, String?)
                try readMembers(of: view) { (name, value) throws(Mismatch) in
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
                guard !rule.hasHiddenSecret else { throw hiddenSecret }
                rule.certificate = certificate.map { ClientCertificate(file: $0, key: key) }
                return rule
            })
    }

    /// The rules with `…` in the place of secrets, which are never shown.
    var literal: JSONLiteral {
        .array(
            rules.map { rule in
                var members: [(String, JSONLiteral)] = [("hosts", .texts(rule.hosts))]
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

extension HostRule {
    /// `true` when a secret is what is shown in its place: the rule was read from the settings and is written back.
    fileprivate var hasHiddenSecret: Bool {
        switch authorization {
        case .basic(_, hiddenText), .bearer(hiddenText): true
        case .basic, .bearer, nil: headers.values.contains(hiddenText)
        }
    }
}

/// The text shown in the place of a secret.
private let hiddenText = "…"
private let hidden = JSONLiteral.string(hiddenText)

private let hiddenSecret = Mismatch(
    path: "",
    message: "has \(hiddenText) in the place of a secret, which is not shown: give the secret, or leave hostRules out",
    expected: "a rule with its secrets")
