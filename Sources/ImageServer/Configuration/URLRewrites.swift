internal import ImageEngine
internal import JSONRPC

/// The rules that replace the beginnings of URLs.
struct URLRewrites: SettingValue {
    let rewrites: [URLRewrite]

    static var schema: JSONLiteral {
        let url: JSONLiteral = ["type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@]+([/?#]|$)"]
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
            rewrites: try readObjects(view, "a list of {\"from\": …, \"to\": …}") { (view) throws(Mismatch) in
                var texts: [String: String] = [:]
                try readMembers(of: view) { (name, value) throws(Mismatch) in
                    guard ["from", "to"].contains(name) else {
                        throw .unknown(name, among: ["from", "to"], what: "member")
                    }
                    texts[name] = try String.decode(value)
                }
                guard let from = texts["from"], let to = texts["to"], let rewrite = URLRewrite(from: from, to: to)
                else {
                    throw .expected(
                        "from and to, both the beginning of an http or https URL without a user (hostRules add credentials)",
                        view)
                }
                return rewrite
            })
    }

    var literal: JSONLiteral {
        .array(rewrites.map { ["from": .string($0.from), "to": .string($0.to)] })
    }
}
